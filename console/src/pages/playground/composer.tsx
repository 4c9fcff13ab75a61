import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { usePlaygroundTexts } from './texts.ts'

interface ComposerProps {
  /** Initial text. */
  text: string
  canSend: boolean
  isWriting: boolean
  isStopping: boolean
  onSend(text: string): void
  onStop(): void
}

/** The message input. On a phone, Enter inserts a new line, as in other apps. */
export function Composer({ text, canSend, isWriting, isStopping, onSend, onStop }: ComposerProps) {
  const texts = usePlaygroundTexts().composer
  const [typed, setTyped] = useState(text)
  const field = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  const isReady = canSend && typed.trim() !== ''
  const send = () => {
    if (!isReady) return
    onSend(typed)
    setTyped('')
    field.current?.focus()
  }
  const stop = () => {
    onStop()
    // The stop button disappears with the reply.
    field.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    if (matchMedia('(pointer: coarse)').matches) return
    event.preventDefault()
    send()
  }
  return (
    <form
      className="playground-composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        ref={field}
        className="playground-input"
        aria-label={texts.label}
        aria-describedby={id}
        placeholder={texts.placeholder}
        dir="auto"
        rows={1}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isWriting ? (
        <IconButton icon="stop" look="plain" label={texts.stop} isPending={isStopping} onPress={stop} />
      ) : (
        <IconButton icon="send" look="primary" label={texts.send} type="submit" isDisabled={!isReady} />
      )}
      <span id={id} className="hidden-visually">
        {texts.hint}
      </span>
    </form>
  )
}
