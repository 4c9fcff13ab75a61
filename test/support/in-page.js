// Runs in the browser before the page's own code. Reports script actions, and finds elements that could act.
for (const name of ['__ran', 'alert', 'confirm', 'prompt', 'print', 'open'])
  globalThis[name] = (value) => globalThis.__told(`${name} ${value}`)

/** Returns elements and attributes that a reply never needs, in the page and after insertion by innerHTML. Fires events at each element. */
globalThis.__look = (html, events) => {
  const found = []
  const elements = /^(P|BR|HR|H[1-6]|BLOCKQUOTE|PRE|CODE|STRONG|EM|DEL|A|IMG|UL|OL|LI|TABLE|THEAD|TBODY|TR|TH|TD|INPUT)$/
  const attributes = /^(href|src|alt|title|rel|class|start|style|type|checked|disabled)$/
  const isOdd = (name, value) =>
    !attributes.test(name) ||
    (name === 'style' && !/^text-align:(left|right|center)$/.test(value)) ||
    (name === 'type' && value !== 'checkbox')
  const look = (root) => {
    for (const element of root.querySelectorAll('*')) {
      const { tagName } = element
      if (!elements.test(tagName)) found.push(tagName)
      for (const { name, value } of element.attributes) if (isOdd(name, value)) found.push(`${tagName} ${name}=${value}`)
      if (tagName === 'A' && element.hasAttribute('href') && !/^(https?|mailto):$/.test(element.protocol))
        found.push(`link to ${element.href}`)
      for (const name of events) element.dispatchEvent(new Event(name))
    }
  }
  look(document.querySelector('main'))
  const again = document.createElement('div')
  document.body.append(again)
  again.innerHTML = html
  look(again)
  return found
}
