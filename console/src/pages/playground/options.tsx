import type { ConversationState } from 'repartee-client'
import { newUuid } from '../../queries/uuid.ts'
import { useFormat } from '../../texts/format.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/code-block.tsx'
import { TextField } from '../../ui/field.tsx'
import { RadioGroup } from '../../ui/toggle.tsx'
import { nameOf } from '../parts/session-name.ts'
import { usePlaygroundTexts } from './texts.ts'

type Format = 'markdown' | 'html'

/** Options of a message. */
export interface Wishes {
  format: Format
  additionalContext: string
  /** User of a new session; empty for a new user. */
  externalUserId: string
}

/** A UUID, or empty if no user is selected yet. */
export const isUuid = (text: string) => text === '' || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

interface OptionsProps {
  wishes: Wishes
  onChange(wishes: Wishes): void
  session: ConversationState['session']
}

/** Options for the next messages, and the current session. */
export function Options({ wishes, onChange, session }: OptionsProps) {
  const texts = usePlaygroundTexts().settings
  const time = useFormat()
  const { format, additionalContext, externalUserId } = wishes
  return (
    <div className="stack playground-options">
      <RadioGroup<Format>
        label={texts.format}
        value={format}
        onChange={(next) => onChange({ ...wishes, format: next })}
        choices={[
          { id: 'markdown', label: texts.formats.markdown },
          { id: 'html', label: texts.formats.html, description: texts.formatText },
        ]}
      />
      <TextField
        label={texts.context}
        description={texts.contextText}
        value={additionalContext}
        onChange={(next) => onChange({ ...wishes, additionalContext: next })}
        rows={4}
      />
      <div className="stack playground-user">
        <TextField
          label={texts.user}
          description={session === undefined ? texts.userText : texts.userFixed}
          value={externalUserId}
          onChange={(next) => onChange({ ...wishes, externalUserId: next.trim() })}
          isCode
          autoComplete="off"
          error={isUuid(externalUserId) ? undefined : texts.userInvalid}
        />
        <Button size="small" onPress={() => onChange({ ...wishes, externalUserId: newUuid() })}>
          {texts.newUser}
        </Button>
      </div>
      {session !== undefined && (
        <dl className="playground-session">
          <dt>{texts.session}</dt>
          <dd className="as-written">{nameOf(session.name, time)}</dd>
          <dt>{texts.sessionId}</dt>
          <dd className="fact-id">
            <bdi className="mono">{session.id}</bdi>
            <CopyButton text={session.id} label={texts.copyId} />
          </dd>
        </dl>
      )}
    </div>
  )
}
