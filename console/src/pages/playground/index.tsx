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
import { isUuid, Options, type Wishes } from './options.tsx'
import { usePlaygroundTexts } from './texts.ts'
import { Thread } from './thread.tsx'
import { isWriting } from './turns.ts'
import { useConversation } from './use-conversation.ts'

const NO_WISHES: Wishes = { format: 'markdown', additionalContext: '', externalUserId: '' }

/** A test conversation with the agent, with all details of each reply. */
export default function Playground({ agentId }: PageProps) {
  const texts = usePlaygroundTexts()
  useEffect(preloadMarkdown, [])
  const [, params] = useRoute<{ agentId: string; sessionId?: string }>('/agents/:agentId/playground/:sessionId?')
  const asked = new URLSearchParams(useSearch()).get('ask') ?? ''
  const { conversation, number, state, renew } = useConversation(agentId, params?.sessionId?.toLowerCase())
  const [wishes, setWishes] = useState(NO_WISHES)
  const [hasOptions, setOptions] = useState(false)
  const [sent, setSent] = useState(0)
  useEffect(() => {
    const { format, additionalContext, externalUserId } = wishes
    const create = externalUserId === '' ? {} : { externalUserId }
    Object.assign(conversation.options, { format, additionalContext: additionalContext || undefined, create })
  }, [conversation, wishes])
  const canSend = state.isLoaded && state.status === 'ready' && isUuid(wishes.externalUserId)
  const send = (text: string) => {
    if (!canSend) return
    void conversation.send(text)
    setSent(sent + 1)
  }
  const options = <Options wishes={wishes} onChange={setWishes} session={state.session} />
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
          <Thread agentId={agentId} conversation={conversation} state={state} sent={sent} onSend={send} />
          <Composer
            key={number}
            text={asked}
            canSend={canSend}
            isWriting={isWriting(state)}
            isStopping={state.isStopping}
            onSend={send}
            onStop={() => void conversation.stop()}
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
