// A page with a chat as in the documentation of the AI SDK. `settings` contains the values that differ between pages.
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { createElement as h, useState } from 'react'
import { createRoot } from 'react-dom/client'

const { api, token, id, resume } = window.settings

function Chat() {
  const [input, setInput] = useState('')
  const { messages, sendMessage, status, error, regenerate } = useChat({
    id,
    resume,
    transport: new DefaultChatTransport({ api, headers: { Authorization: `Bearer ${token}` } }),
  })
  const send = (event) => {
    event.preventDefault()
    sendMessage({ text: input })
    setInput('')
  }
  return h(
    'main',
    {},
    messages.map((message) => h('article', { key: message.id, className: message.role }, message.parts.map(show))),
    h('output', {}, status),
    error && h('p', { role: 'alert' }, error.message),
    h(
      'form',
      { onSubmit: send },
      h('input', { 'aria-label': 'Message', value: input, onChange: (event) => setInput(event.target.value) }),
      h('button', { type: 'submit' }, 'Send'),
    ),
    h('button', { type: 'button', onClick: () => regenerate() }, 'Again'),
  )
}

function show(part, key) {
  if (part.type === 'text') return h('span', { key }, part.text)
  if (part.type === 'source-document') return h('cite', { key }, `[${part.sourceId}] ${part.title}`)
  return null
}

createRoot(document.body).render(h(Chat))
