"""Plain words for prompts: nothing that a policy hunts for, no names, no numbers, no money, no orders.

Used by `bodies`. Beginnings of the words are harmless too, for a text may end within one.
"""

from __future__ import annotations

_TEXT = """
about above across after again along apple autumn away balcony barley basin basket beach bench beyond birch
blossom blue boat branch bread breeze bridge bright brook brown candle carpet cedar cellar chair cherry circle
clear cliff cloud clover coast colour copper corner cotton cradle creek crystal curtain daisy dawn deep distant
door dove drift dune dusk earth east echo elm evening every fabric falcon family farm feather fence fern ferry
field fig flame flower fog forest fountain fresh frost garden gate gentle glass gloves golden grain grape grass
gravel green grove gull hamlet harbour harvest hazel heather hedge heron hill hollow honey horizon hour indigo
island ivory ivy jasmine jug juniper kettle kitchen ladder lake lamp lantern lark lavender leaf lemon light lilac
linen little lively long low lunch maple marble marsh meadow melody mild mill mint mist moon morning moss mountain
music narrow nest night north oak oat olive open orange orchard otter over owl paint pale paper pasture path
pear pebble pepper pine plain plum pond poplar porch quiet rain reed ribbon ridge river road robin roof rose
round rye sage sail salt sand season shade shell shore silver slow snow soft sparrow spring square stone stork
storm stream summer sunrise swallow swan table tall tea thistle thyme tide timber topaz trail tree tulip under
valley velvet vine violet walnut water wave west wheat willow wind window winter wood wool wren yarn yellow young
"""

WORDS: tuple[str, ...] = tuple(_TEXT.split())
