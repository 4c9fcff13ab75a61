import type { ReactNode } from 'react'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { OutsideLink } from '../../ui/link.tsx'
import * as snippets from './snippets.ts'
import { useEmbedTexts } from './texts.ts'

interface WayProps {
  place: snippets.Place
}

/** The service serves the guide next to the console. */
function Guide({ page }: { page: string }) {
  const texts = useEmbedTexts()
  return <OutsideLink href={`${location.origin}/docs/${page}/`}>{texts.guide}</OutsideLink>
}

function Snippet({ label, text, code }: { label: string; text?: ReactNode; code: string }) {
  return (
    <div className="embed-snippet">
      <p className="field-label">{label}</p>
      {text !== undefined && <p className="field-description">{text}</p>}
      <CodeBlock code={code} label={label} />
    </div>
  )
}

export function WidgetWay({ place }: WayProps) {
  const texts = useEmbedTexts()
  return (
    <Card title={texts.tabs.widget} actions={<Guide page="widget" />}>
      <div className="stack embed-way">
        <Snippet label={texts.widget.page} text={texts.widget.pageText} code={snippets.widgetTag(place)} />
        <Snippet label={texts.widget.server} text={texts.widget.serverText} code={snippets.tokenFunction(place)} />
      </div>
    </Card>
  )
}

export function ReactWay({ place }: WayProps) {
  const texts = useEmbedTexts().react
  return (
    <Card title={texts.title} description={texts.text} actions={<Guide page="client" />}>
      <CodeBlock code={snippets.reactChat(place)} label={texts.title} />
    </Card>
  )
}

export function OpenaiWay({ place }: WayProps) {
  const texts = useEmbedTexts().openai
  return (
    <Card title={texts.title} description={texts.text} actions={<Guide page="standard-clients" />}>
      <div className="stack embed-way">
        <Snippet label={texts.base} code={snippets.openaiBase(place)} />
        <Snippet label={texts.model} code={place.agentId} />
        <Snippet label={texts.curl} code={snippets.openaiCurl(place)} />
        <Snippet label={texts.python} code={snippets.openaiPython(place)} />
      </div>
    </Card>
  )
}

export function McpWay({ place }: WayProps) {
  const texts = useEmbedTexts().mcp
  return (
    <Card title={texts.title} description={texts.text} actions={<Guide page="mcp" />}>
      <div className="stack embed-way">
        <Snippet label={texts.url} code={snippets.mcpUrl(place)} />
        <Snippet label={texts.claude} code={snippets.mcpClaude(place)} />
        <Snippet label={texts.editor} code={snippets.mcpEditor(place)} />
      </div>
    </Card>
  )
}

export function HttpWay({ place }: WayProps) {
  const texts = useEmbedTexts().http
  return (
    <Card title={texts.title} description={texts.text} actions={<Guide page="sessions-and-messages" />}>
      <div className="stack embed-way">
        <Snippet label={texts.session} code={snippets.createSession(place)} />
        <Snippet label={texts.message} code={snippets.sendMessage(place)} />
      </div>
    </Card>
  )
}
