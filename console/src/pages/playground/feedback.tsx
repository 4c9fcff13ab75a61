import { useState } from 'react'
import { ToggleButton } from 'react-aria-components/ToggleButton'
import { toFailure } from '../../queries/errors.ts'
import { type Feedback, type MessagePlace, useRate } from '../../queries/replies.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { usePlaygroundTexts } from './texts.ts'

type Rating = Feedback['rating']

/** Sends a rating of a reply, with an optional comment. */
export function FeedbackButtons({ place, given }: { place: MessagePlace; given: Feedback | undefined }) {
  const texts = usePlaygroundTexts()
  const uiTexts = useUiTexts()
  const { mutateAsync, isPending } = useRate(place)
  const [own, setOwn] = useState<Rating>()
  const [isAsking, setAsking] = useState(false)
  const [comment, setComment] = useState(given?.comment ?? '')
  const rating = own ?? given?.rating
  const say = async (feedback: Feedback) => {
    try {
      await mutateAsync(feedback)
      return true
    } catch (error) {
      toast(`${texts.feedback.failed}: ${toFailure(error, uiTexts).message}`, { tone: 'bad' })
      return false
    }
  }
  const rate = async (next: Rating) => {
    setOwn(next)
    setAsking(true)
    // An earlier comment stays.
    const said = given?.comment === undefined ? {} : { comment: given.comment }
    if (!(await say({ ...said, rating: next }))) setOwn(undefined)
  }
  const tell = async () => {
    if (rating === undefined || comment.trim() === '' || !(await say({ rating, comment }))) return
    setAsking(false)
    toast(texts.feedback.thanks)
  }
  return (
    <>
      {(['up', 'down'] as const).map((one) => (
        <ToggleButton
          key={one}
          className="button button-quiet button-small button-icon playground-thumb"
          aria-label={one === 'up' ? texts.reply.good : texts.reply.bad}
          isSelected={rating === one}
          onChange={() => void rate(one)}
        >
          <Icon name={one === 'up' ? 'thumbUp' : 'thumbDown'} size={15} />
        </ToggleButton>
      ))}
      {isAsking && (
        <form
          className="playground-comment"
          onSubmit={(event) => {
            event.preventDefault()
            void tell()
          }}
        >
          <TextField label={texts.feedback.comment} rows={2} value={comment} onChange={setComment} />
          <div className="row">
            <Button size="small" look="primary" type="submit" isBusy={isPending} isDisabled={comment.trim() === ''}>
              {texts.feedback.send}
            </Button>
            <Button size="small" look="quiet" onPress={() => setAsking(false)}>
              {texts.feedback.skip}
            </Button>
          </div>
        </form>
      )}
    </>
  )
}
