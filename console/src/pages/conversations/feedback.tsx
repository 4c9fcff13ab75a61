import { useState } from 'react'
import { toFailure } from '../../queries/errors.ts'
import { type MessagePlace, type Feedback as Rating, useRate } from '../../queries/replies.ts'
import { useRights } from '../../session/session.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { useConversationTexts } from './texts.ts'

interface Props {
  place: MessagePlace
  feedback: Rating | undefined
  /** The feedback is loaded, even if there is none. */
  isThere: boolean
}

/** Shows the feedback on a reply, and lets the reader rate it. A rating can be changed but not removed. */
export function Feedback({ place, feedback, isThere }: Props) {
  const texts = useConversationTexts().feedback
  const uiTexts = useUiTexts()
  const rights = useRights()
  const [isWriting, setWriting] = useState(false)
  const { mutate, isPending } = useRate(place)
  const rate = (next: Rating, done?: () => void) =>
    mutate(next, {
      onSuccess: () => {
        toast(texts.saved)
        done?.()
      },
      onError: (error) => toast(`${texts.failed}: ${toFailure(error, uiTexts).message}`, { tone: 'bad' }),
    })
  const said = feedback?.comment !== undefined && feedback.comment !== '' && !isWriting && (
    <p className="conversations-comment" dir="auto">
      {feedback.comment}
    </p>
  )
  if (!rights.can('chat')) {
    return feedback === undefined ? null : (
      <div className="conversations-feedback">
        <span className="row muted">
          <Icon name={feedback.rating === 'up' ? 'thumbUp' : 'thumbDown'} />
          {feedback.rating === 'up' ? texts.ratedGood : texts.ratedBad}
        </span>
        {said}
      </div>
    )
  }
  return (
    <div className="conversations-feedback">
      <span className="row">
        {(['up', 'down'] as const).map((rating) => (
          <IconButton
            key={rating}
            icon={rating === 'up' ? 'thumbUp' : 'thumbDown'}
            label={rating === 'up' ? texts.good : texts.bad}
            size="small"
            aria-pressed={feedback?.rating === rating}
            className={`conversations-rate conversations-rate-${rating}`}
            isDisabled={!isThere}
            isPending={isPending}
            onPress={() => feedback?.rating !== rating && rate({ ...feedback, rating })}
          />
        ))}
        {feedback !== undefined && !isWriting && (
          <Button size="small" look="quiet" onPress={() => setWriting(true)}>
            {feedback.comment ? texts.editComment : texts.addComment}
          </Button>
        )}
      </span>
      {said}
      {isWriting && feedback !== undefined && (
        <CommentForm
          comment={feedback.comment ?? ''}
          isBusy={isPending}
          onCancel={() => setWriting(false)}
          onSave={(comment) => rate({ rating: feedback.rating, comment }, () => setWriting(false))}
        />
      )}
    </div>
  )
}

function CommentForm({
  comment,
  isBusy,
  onSave,
  onCancel,
}: {
  comment: string
  isBusy: boolean
  onSave(comment: string): void
  onCancel(): void
}) {
  const texts = useConversationTexts().feedback
  const [text, setText] = useState(comment)
  return (
    <form
      className="conversations-comment-form"
      onSubmit={(event) => {
        event.preventDefault()
        onSave(text.trim())
      }}
    >
      <TextField label={texts.comment} hidesLabel value={text} onChange={setText} rows={2} autoFocus />
      <span className="row">
        <Button size="small" onPress={onCancel}>
          {texts.cancel}
        </Button>
        <Button size="small" look="primary" type="submit" isBusy={isBusy}>
          {texts.save}
        </Button>
      </span>
    </form>
  )
}
