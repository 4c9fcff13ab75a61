import './playground.css'
import './reply.css'
import './details.css'
import { useEffect, useState } from 'react'
import { useRoute, useSearch } from 'wouter'
import { useAgentName } from '../../queries/agents.ts'
import type { PageProps } from '../../routing/routes.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { preloadMarkdown } from '../../ui/markdown.tsx'
import { Page } from '../../ui/page.tsx'
import { Composer } from './composer.tsx'
import { isBusy, type Wishes } from './conversation.ts'
import { isUuid, Options } from './options.tsx'
import { usePlaygroundTexts } from './texts.ts'
import { Thread } from './thread.tsx'
import { useConversation } from './use-conversation.ts'

const NO_WISHES: Wishes = { format: 'markdown', additionalContext: '', externalUserId: '' }

/** A test conversation with the agent, with all details of each reply. */
export default function Playground({ agentId }: PageProps) {
  const texts = usePlaygroundTexts()
  useEffect(preloadMarkdown, [])
  const [, params] = useRoute<{ agentId: string; sessionId?: string }>('/agents/:agentId/playground/:sessionId?')
  const asked = new URLSearchParams(useSearch()).get('ask') ?? ''
  const { conversation, talk, renew } = useConversation(agentId, params?.sessionId?.toLowerCase())
  const [wishes, setWishes] = useState(NO_WISHES)
  const [hasOptions, setOptions] = useState(false)
  const [sent, setSent] = useState(0)
  const last = talk.turns.at(-1)
  const isWriting = last !== undefined && isBusy(last)
  const canSend = !isWriting && !talk.isLoading && talk.loadError === undefined && isUuid(wishes.externalUserId)
  const send = (text: string) => {
    if (!canSend) return
    conversation.send(text, wishes)
    setSent(sent + 1)
  }
  const options = <Options wishes={wishes} onChange={setWishes} session={talk.session} />
  const actions = (
    <>
      <Button icon="plus" onPress={renew}>
        {texts.newSession}
      </Button>
      <span className="playground-options-button">
        <IconButton icon="setup" look="plain" label={texts.options} onPress={() => setOptions(true)} />
      </span>
    </>
  )
  return (
    <Page title={texts.title} of={useAgentName(agentId)} actions={actions} width="wide">
      <div className="playground">
        <div className="playground-talk">
          <Thread agentId={agentId} conversation={conversation} talk={talk} wishes={wishes} sent={sent} onSend={send} />
          <Composer
            key={conversation.number}
            text={asked}
            canSend={canSend}
            isWriting={isWriting}
            isStopping={last?.isStopping ?? false}
            onSend={send}
            onStop={() => conversation.stop()}
          />
        </div>
        <aside className="playground-side" aria-label={texts.options}>
          {options}
        </aside>
      </div>
      <Drawer title={texts.options} isOpen={hasOptions} onClose={() => setOptions(false)}>
        {options}
      </Drawer>
    </Page>
  )
}
