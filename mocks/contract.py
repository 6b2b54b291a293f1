"""What gateway, provider and control plane agree on: the path of a chat, and who the gateway is."""

from __future__ import annotations

CHAT_PATH = "/v1/chat/completions"
REGISTRATION_ID = "11111111-1111-4111-8111-111111111111"
GATEWAY_ID = "66666666-6666-4666-8666-666666666666"
