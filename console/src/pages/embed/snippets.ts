/** Values for the snippets: the address of this service and the id of an agent. Snippets never contain a key. */
export interface Place {
  origin: string
  agentId: string
}

export const widgetTag = ({ origin, agentId }: Place) => `<script src="${origin}/widget.js" defer
  data-agent="${agentId}"
  data-token-url="/chat-token"></script>`

export const tokenFunction = ({ origin, agentId }: Place) => `export async function chatToken(externalUserId) {
  const answer = await fetch('${origin}/v1/agents/${agentId}/tokens', {
    method: 'POST',
    headers: { 'X-API-Key': process.env.REPARTEE_KEY, 'Content-Type': 'application/json' },
    body: JSON.stringify({ externalUserId }),
  })
  if (!answer.ok) throw new Error(\`No token: \${answer.status}\`)
  const { token, expiresAt } = await answer.json()
  return { token, expiresAt }
}`

export const reactChat = ({ origin, agentId }: Place) => `import { useState } from 'react'
import { Repartee } from 'repartee-client'
import { useSession } from 'repartee-client/react'

const client = new Repartee({
  baseUrl: '${origin}/v1',
  token: async () => (await (await fetch('/chat-token')).json()).token,
})

export function Chat() {
  const [text, setText] = useState('')
  const { messages, status, error, send } = useSession({
    client,
    agentId: '${agentId}',
  })
  return (
    <section>
      {messages.map(({ id, role, content }) => (
        <p key={id} data-role={role}>{content}</p>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <input value={text} onChange={(event) => setText(event.target.value)} />
      <button disabled={status !== 'ready'} onClick={() => send(text)}>Send</button>
    </section>
  )
}`

export const openaiBase = ({ origin }: Place) => `${origin}/openai/v1`

export const openaiCurl = (place: Place) => `curl -s ${openaiBase(place)}/chat/completions \\
  -H "Authorization: Bearer $REPARTEE_KEY" -H "Content-Type: application/json" \\
  -d '{"model":"${place.agentId}","messages":[{"role":"user","content":"Hello"}]}'`

export const openaiPython = (place: Place) => `from openai import OpenAI

client = OpenAI(base_url="${openaiBase(place)}", api_key="rpt_…")
answer = client.chat.completions.create(
    model="${place.agentId}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`

export const mcpUrl = ({ origin, agentId }: Place) => `${origin}/mcp/${agentId}`

export const mcpClaude = (place: Place) =>
  `claude mcp add --transport http repartee ${mcpUrl(place)} \\\n  --header "Authorization: Bearer $REPARTEE_KEY"`

export const mcpEditor = (place: Place) =>
  JSON.stringify(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the editor replaces the variable
    { mcpServers: { repartee: { url: mcpUrl(place), headers: { Authorization: 'Bearer ${env:REPARTEE_KEY}' } } } },
    null,
    2,
  )

export const createSession = ({ origin, agentId }: Place, credential = '$REPARTEE_KEY') =>
  `curl -s -X POST ${origin}/v1/agents/${agentId}/sessions \\\n  -H "Authorization: Bearer ${credential}" -H "Content-Type: application/json" -d '{}'`

export const sendMessage = ({ origin, agentId }: Place) =>
  `curl -s ${origin}/v1/agents/${agentId}/sessions/$SESSION/messages \\\n  -H "Authorization: Bearer $REPARTEE_KEY" -H "Content-Type: application/json" \\\n  -d '{"message":"Hello"}'`
