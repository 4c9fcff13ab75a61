import { useState } from 'react'
import { type Key, useKeys, useRevokeKey } from '../../queries/keys.ts'
import { useSignedIn } from '../../session/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { type Issued, KeySecret } from './key-secret.tsx'
import { KeyTable } from './key-table.tsx'
import { NewKey } from './new-key.tsx'
import { RollKey } from './roll-key.tsx'
import { useKeyTexts } from './texts.ts'

type Deed = { is: 'create' } | { is: 'roll'; key: Key } | { is: 'show'; issued: Issued }

/** The API keys of the service: create, list, roll and revoke them. */
export default function Keys() {
  const texts = useKeyTexts()
  const { keys, total, isPending, error, refetch, more } = useKeys()
  const [deed, setDeed] = useState<Deed>()
  const [leaving, setLeaving] = useState<Key>()
  const close = () => setDeed(undefined)
  const show = (issued: Issued) => setDeed({ is: 'show', issued })
  const create = (
    <Button look="primary" icon="plus" onPress={() => setDeed({ is: 'create' })}>
      {texts.create}
    </Button>
  )
  return (
    <Page title={texts.title} description={texts.description} actions={create} width="wide">
      <Card isFlush>
        {error !== null && keys.length === 0 ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <SkeletonRows rows={4} />
        ) : (
          <KeyTable keys={keys} onRoll={(key) => setDeed({ is: 'roll', key })} onRevoke={setLeaving} />
        )}
        {total !== undefined && total > 0 && <LoadMore {...more} />}
      </Card>
      {deed?.is === 'create' && <NewKey onClose={close} onCreated={show} />}
      {deed?.is === 'roll' && <RollKey of={deed.key} onClose={close} onRolled={show} />}
      {deed?.is === 'show' && <KeySecret issued={deed.issued} onClose={close} />}
      <Revoke of={leaving} onClose={() => setLeaving(undefined)} />
    </Page>
  )
}

function Revoke({ of, onClose }: { of: Key | undefined; onClose(): void }) {
  const texts = useKeyTexts().revoke
  const { prefix } = useSignedIn()
  const { mutateAsync } = useRevokeKey()
  if (of === undefined) return null
  return (
    <ConfirmDialog
      title={texts.title(of.name)}
      action={texts.submit}
      isOpen
      onClose={onClose}
      onConfirm={async () => {
        await mutateAsync(of.id)
        toast(texts.done(of.name))
      }}
    >
      <p>{texts.text}</p>
      {of.prefix === prefix && <p>{texts.own}</p>}
    </ConfirmDialog>
  )
}
