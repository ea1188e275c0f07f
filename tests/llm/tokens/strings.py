"""Two hundred odd strings to cut into tokens."""

from __future__ import annotations

import random

_WRITTEN = [
    "", " ", "  ", "   ", "\n", "\n\n", " \n", "\n ", "\t", "\t\t\n", "\r\n", " \r\n \r\n", "\u00a0", "\u3000", "\u200b", "\ufeff",
    "Hello", " Hello", "  Hello", "Hello ", "Hello  ", "Hello world", "Hello   world", "Hello, world!", "HELLO WORLD",
    "hello\nworld", "hello\n\nworld", "hello \n world", "hello\tworld", "a b c d e", "I'm you're he'd we'll they've it's don't",
    "I'M YOU'RE HE'D WE'LL THEY'VE IT'S DON'T", "'s 't 're", "''''", "can't've", "rock 'n' roll",
    "1", "12", "123", "1234", "12345", "123456789", "1,234,567.89", "3.14159", "-42", "1e-10", "0x1F", "²³½¼", "٣٤٥", "Ⅷ", "①②③",
    "a1b2c3", "v1.2.3-beta", "2024-01-31T12:34:56Z", "100%", "$99.99", "€50", "50°C", "#hashtag", "@user", "user@example.com",
    "https://example.com/a/b?c=d&e=f#g", "C:\\Users\\name", "/usr/local/bin", "~/.bashrc", "--flag=value", "a_b_c", "camelCase",
    "PascalCaseWord", "HTTPServerError", "XMLHttpRequest", "iPhone", "McDonald's", "e.g.", "i.e.,", "...", "…", "?!", "!!!", "—–-",
    "“quoted” ‘text’", "«guillemets»", "(a) [b] {c} <d>", "a+b=c", "x^2", "x**2", "i++", "!=", "<=>", "&&||", "/* c */ // d",
    "def f(x):\n    return x + 1\n", "for (int i = 0; i < 10; ++i) {\n\tfoo(i);\n}", "if a:\n        b\n    else:\n        c",
    "SELECT * FROM t WHERE id = 1;", '{"key": [1, 2.5, null, true], "nested": {"a": "b"}}', "<html><body>\n<p>text</p>\n</body></html>",
    "| a | b |\n|---|---|\n| 1 | 2 |", "# Title\n\n- item\n  - sub\n\n```python\nprint('hi')\n```", "\\frac{a}{b} \\alpha_{i}^{2}",
    "你好", "你好，世界！", "今天天气很好。", "東京都に住んでいます", "ひらがなカタカナ漢字", "안녕하세요 세계", "한국어 텍스트", "中文English混合123", "Ｆｕｌｌｗｉｄｔｈ",
    "Привет мир", "ПРИВЕТ, МИР!", "Γειά σου Κόσμε", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก", "Xin chào thế giới", "ǅ ǈ ʰ",
    "café naïve résumé", "cafe\u0301 nai\u0308ve", "Straße ÄÖÜäöüß", "İstanbul ıssız", "Łódź", "ÆØÅ æøå", "ﬁ ﬂ ﬀ", "ñandú ¿qué? ¡sí!",
    "🙂", "🙂🙃", "a🙂b", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "❤️", "☀️☁", "🤷‍♀️ idk", "1️⃣2️⃣", "𝒳𝓎𝓏", "𠜎𠜱", "♔♕♖", "→←↑↓", "∑∏∫√", "™®©", "\U0001f9d1",
    "\x00", "a\x00b", "\x7f", "\x1b[31mred\x1b[0m", "\u202eabc", "a\u0300\u0301\u0302", "\u2028line\u2029", "\x85", "\ufffd", "\ud7ff\ue000",
    "aaaaaaaaaaaaaaaaaaaaaaaa", "ababababababab", "          deep", "word " * 12, "\n" * 7, "\t" * 5 + "x", " \t \n \t ", "a  \n  b", "x\n   \n   y",
    "The quick brown fox jumps over the lazy dog.", "To be, or not to be: that is the question.",
    "It was the best of times, it was the worst of times.", "Mr. Smith's 3 dogs; Dr. Jones' 2 cats.", "supercalifragilisticexpialidocious",
    "antidisestablishmentarianism", "  leading and trailing  ", "no_space_at_all_here", "MixedCASEwords AND numbers123abc", "tail space \n",
]  # fmt: skip


def odd_strings(count: int = 200) -> list[str]:
    """Those above, then mixtures of them."""
    chance = random.Random(7)
    found = list(dict.fromkeys(_WRITTEN))
    while len(found) < count:
        parts = chance.sample(_WRITTEN, chance.randint(2, 4))
        mixture = chance.choice(["", " ", "\n"]).join(parts)
        if mixture not in found:
            found.append(mixture)
    return found[:count]
