import './sign-in.css'
import { type FormEvent, useEffect, useState } from 'react'
import { Group } from 'react-aria-components/Group'
import { Input } from 'react-aria-components/Input'
import { TextField } from 'react-aria-components/TextField'
import { ReparteeError } from 'repartee-client'
import { useSession } from '../session/session.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { ErrorNote } from '../ui/error-note.tsx'
import { FieldFoot, FieldLabel } from '../ui/field.tsx'
import { Note } from '../ui/note.tsx'
import { Checkbox } from '../ui/toggle.tsx'
import { Logo } from './logo.tsx'
import { Preferences } from './preferences.tsx'
import { useShellTexts } from './texts.ts'

/** The sign-in page. */
export function SignIn() {
  const texts = useShellTexts().signIn
  useEffect(() => {
    document.title = `${texts.title} · Repartee`
  }, [texts.title])
  return (
    <div className="door">
      <header className="door-head">
        <Preferences />
      </header>
      <main className="door-main">
        <div className="door-card">
          <Logo size={36} />
          <h1>{texts.title}</h1>
          <p className="muted">{texts.text}</p>
          <KeyForm />
        </div>
        <p className="door-foot">
          {texts.lost} <code dir="ltr">repartee keys create --admin</code>
        </p>
      </main>
    </div>
  )
}

/** A form that signs in with a key. */
export function KeyForm() {
  const texts = useShellTexts().signIn
  const { signIn } = useSession()
  const [key, setKey] = useState('')
  const [isKept, setKept] = useState(false)
  const [isShown, setShown] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const [problem, setProblem] = useState<string>()

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setError(undefined)
    setProblem(undefined)
    if (key.trim() === '') return setProblem(texts.missing)
    setBusy(true)
    try {
      await signIn(key.trim(), isKept)
    } catch (failure) {
      if (failure instanceof ReparteeError && failure.status === 401) setProblem(texts.noKey)
      else setError(failure)
      setBusy(false)
    }
  }

  return (
    <form className="stack door-form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField
        className="field"
        value={key}
        onChange={setKey}
        isInvalid={problem !== undefined}
        validationBehavior="aria"
        type={isShown ? 'text' : 'password'}
        autoComplete="off"
        autoFocus
      >
        <FieldLabel>{texts.key}</FieldLabel>
        <Group className="input input-group">
          <Input className="input-bare mono" dir="ltr" name="key" placeholder="rpt_…" spellCheck="false" autoCapitalize="off" />
          <IconButton
            icon={isShown ? 'eyeOff' : 'eye'}
            label={isShown ? texts.hide : texts.show}
            size="small"
            onPress={() => setShown(!isShown)}
          />
        </Group>
        <FieldFoot error={problem} />
      </TextField>
      <Checkbox label={texts.keep} description={texts.keepText} isSelected={isKept} onChange={setKept} />
      {error !== undefined && <ErrorNote error={error} />}
      <Button type="submit" look="primary" isBusy={isBusy}>
        {texts.submit}
      </Button>
    </form>
  )
}

/** Shown over a page whose key was refused while signed in. */
export function Refused() {
  const texts = useShellTexts().refused
  return (
    <>
      <Note tone="warn">{texts.text}</Note>
      <KeyForm />
    </>
  )
}
