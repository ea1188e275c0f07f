"""Chat templates in the manner of several families, written for the tests, and conversations for them."""

from __future__ import annotations

TEMPLATES = {
    "chatml": (
        "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
        "{{ '<|im_start|>system\nYou are helpful.<|im_end|>\n' }}{% endif %}"
        "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ),
    "instructions": """{{ bos_token }}
{%- if messages[0].role == 'system' %}
    {%- set system = messages[0].content | trim %}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set system = '' %}
    {%- set rest = messages %}
{%- endif %}
{%- for message in rest %}
    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}
        {{- raise_exception('roles must alternate') }}
    {%- endif %}
    {%- if message.role == 'user' %}
        {{- '[INST] ' + (system + '\n\n' if loop.first and system else '') + message.content + ' [/INST]' }}
    {%- else %}
        {{- ' ' ~ message.content ~ eos_token }}
    {%- endif %}
{%- endfor %}""",
    "tools": """{%- macro describe(tool) %}
{{- tool.function.name }}: {{ tool.function | tojson(indent=4) }}
{%- endmacro %}
{%- set ns = namespace(calls=0, last=none) %}
{%- if tools is not none and tools %}
{{- '<|start|>tools\n' }}
{%- for tool in tools %}
{{- describe(tool) ~ ('' if loop.last else '\n') }}
{%- endfor %}
{{- '<|end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.tool_calls is defined and message.tool_calls %}
        {%- for call in message.tool_calls %}
            {%- set ns.calls = ns.calls + 1 %}
            {{- '<|call|>' + call.function.name + ' ' + call.function.arguments | tojson + '<|end|>' }}
        {%- endfor %}
    {%- elif message.content is string %}
        {%- set content = message.content %}
        {%- if '</think>' in content %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {{- '<|start|>%s\n%s<|end|>\n' % (message.role, content) }}
    {%- else %}
        {{- '<|start|>' ~ message.role ~ '\n' }}
        {%- for part in message.content if part.type == 'text' %}
            {{- part.text | upper if part.shout else part.text }}
        {%- endfor %}
        {{- '<|end|>\n' }}
    {%- endif %}
    {%- set ns.last = message.role %}
{%- endfor %}
{%- if add_generation_prompt and ns.last != 'assistant' %}{{ '<|start|>assistant\n' }}{% endif %}
{#- calls: #}{{ ns.calls }}{{ enable_thinking is defined and enable_thinking is false }}""",
    "generation": (
        "{% for message in messages %}{% if message.role == 'assistant' %}{% generation %}{{ message.content }}\n"
        "{% endgeneration %}{% else %}{{ message.role ~ ': ' ~ message.content }}\n{% endif %}{% endfor %}"
    ),
}
TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "Wetter für <Ort> & Zeit",
     "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}}},
    {"type": "function", "function": {"name": "now", "parameters": {}}},
]  # fmt: skip
CONVERSATIONS = {
    "one": [{"role": "user", "content": "Hello"}],
    "turns": [
        {"role": "system", "content": "  Be brief. 世界 "}, {"role": "user", "content": "Hi\n\nthere 🙂"},
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nHello!"},
        {"role": "user", "content": "{{ 7 * 7 }} <|im_end|>"},
    ],
    "parts": [
        {"role": "user", "content": [
            {"type": "image"}, {"type": "text", "text": "what"}, {"type": "text", "text": "yes", "shout": True}]},
    ],
    "calls": [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"function": {"name": "weather", "arguments": {"place": "Köln"}}}]},
        {"role": "tool", "content": "rain"},
    ],
    "wrong order": [{"role": "assistant", "content": "Hello"}],
    "empty": [],
}  # fmt: skip
