import './embed.css'
import { useState } from 'react'
import { useAgent, useAgentName } from '../../queries/agents.ts'
import type { PageProps } from '../../routing/routes.tsx'
import { useRights } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Note } from '../../ui/note.tsx'
import { Page } from '../../ui/page.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useEmbedTexts } from './texts.ts'
import { TryToken } from './try-token.tsx'
import { HttpWay, McpWay, OpenaiWay, ReactWay, WidgetWay } from './ways.tsx'

type Way = 'widget' | 'react' | 'openai' | 'mcp' | 'http'

/** How to embed an agent in web pages and programs. */
export default function Embed({ agentId }: PageProps) {
  const texts = useEmbedTexts()
  const [way, setWay] = useState<Way>('widget')
  const place = { origin: location.origin, agentId }
  return (
    <Page title={texts.title} of={useAgentName(agentId)} description={texts.description}>
      <Tabs<Way>
        label={texts.ways}
        value={way}
        onChange={setWay}
        items={[
          { id: 'widget', label: texts.tabs.widget, content: <WidgetWay place={place} /> },
          { id: 'react', label: texts.tabs.react, content: <ReactWay place={place} /> },
          { id: 'openai', label: texts.tabs.openai, content: <OpenaiWay place={place} /> },
          { id: 'mcp', label: texts.tabs.mcp, content: <McpWay place={place} /> },
          { id: 'http', label: texts.tabs.http, content: <HttpWay place={place} /> },
        ]}
      />
      <TryToken place={place} />
      <Origins agentId={agentId} />
    </Page>
  )
}

/** Shows which origins the agent's own settings allow. */
function Origins({ agentId }: PageProps) {
  const texts = useEmbedTexts().origins
  const format = useFormat()
  const rights = useRights()
  const { data } = useAgent(agentId)
  if (data === undefined) return null
  const { allowedOrigins } = data
  const setup = rights.can('admin') && (
    <LinkButton size="small" icon="setup" href={`/agents/${agentId}`}>
      {texts.setup}
    </LinkButton>
  )
  if (allowedOrigins.length > 0) return <Note>{texts.some(format.list(allowedOrigins))}</Note>
  return (
    <Note tone="warn" title={texts.none} {...(setup && { actions: setup })}>
      <p>{texts.noneText}</p>
    </Note>
  )
}
