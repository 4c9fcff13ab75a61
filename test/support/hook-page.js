// A page that shows one conversation with the client's useSession. The test bundles it, and passes its options after `#`.
import { createElement as h, StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Repartee } from 'repartee-client'
import { useSession } from 'repartee-client/react'

const { baseUrl, agentId, sessionId: first } = JSON.parse(decodeURIComponent(location.hash.slice(1)))
const client = new Repartee({ baseUrl, token: async () => (await fetch('/token')).text(), retryDelayMs: 20 })

function Chat() {
  const [sessionId, setSessionId] = useState(first)
  const [text, setText] = useState('')
  const view = useSession({ client, agentId, sessionId })
  const last = view.messages.at(-1)
  const button = (name, onClick) => h('button', { id: name, type: 'button', onClick }, name)
  return h(
    'main',
    { 'data-status': view.status, 'data-session': view.sessionId, 'data-error': view.error?.code },
    h(
      'ol',
      null,
      view.messages.map(({ id, role, content, turn, feedback }) =>
        h('li', { key: id, 'data-turn': turn, 'data-rating': feedback?.rating }, `${role} ${content}`),
      ),
    ),
    h('input', { value: text, onChange: (event) => setText(event.target.value) }),
    button('send', () => view.send(text)),
    button('stop', () => view.stop()),
    button('regenerate', () => view.regenerate()),
    button('rate', () => view.rate(last.id, 'up')),
    button('keep', () => setSessionId(view.sessionId)),
    button('new', () => setSessionId(undefined)),
    h('p', { id: 'sources' }, view.sources.map(({ title }) => title).join()),
    h('p', { id: 'follow-ups' }, view.followUps.map((question) => question.text).join()),
  )
}

createRoot(document.getElementById('root')).render(h(StrictMode, null, h(Chat)))
