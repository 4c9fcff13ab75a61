import { useState } from 'react'
import { DropZone } from 'react-aria-components/DropZone'
import { FileTrigger } from 'react-aria-components/FileTrigger'
import { useClient } from '../../session/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { toast } from '../../ui/toast.tsx'
import { type Found, filesOf, filesOfFolder } from './files.ts'
import { useKnowledgeTexts } from './texts.ts'
import { queueOf } from './upload-queue.ts'

/** The dialog to open, with its initial text. */
export interface Added {
  what: 'text' | 'web'
  text: string
}

/** Accepts files, folders, texts and addresses by drop, paste or picker. */
export function Intake({ agentId, onAdd }: { agentId: string; onAdd(added: Added): void }) {
  const texts = useKnowledgeTexts()
  const client = useClient()
  const [isReading, setReading] = useState(false)
  const take = ({ files, skipped, text }: Found) => {
    if (files.length > 0) queueOf(client, agentId).add(files)
    if (skipped > 0) toast(texts.drop.skipped(skipped))
    if (files.length > 0) return
    if (text.trim() !== '') onAdd({ what: /^\s*https?:\/\/\S+\s*$/i.test(text) ? 'web' : 'text', text: text.trim() })
    else if (skipped === 0) toast(texts.drop.nothing, { tone: 'bad' })
  }
  return (
    <DropZone
      aria-label={texts.drop.label}
      className="knowledge-drop"
      getDropOperation={() => 'copy'}
      onDrop={async ({ items }) => {
        setReading(true)
        try {
          take(await filesOf(items))
        } catch {
          // The browser is not allowed to read a file or a folder.
          toast(texts.drop.nothing, { tone: 'bad' })
        } finally {
          setReading(false)
        }
      }}
    >
      {({ isDropTarget }) => (
        <>
          <span className="knowledge-drop-icon">
            <Icon name="upload" size={20} />
          </span>
          <div className="knowledge-drop-words">
            <span className="knowledge-drop-title">{isDropTarget ? texts.drop.now : texts.drop.title}</span>
            <span className="muted">{texts.formats}</span>
          </div>
          <div className="row knowledge-drop-ways">
            <FileTrigger allowsMultiple onSelect={(list) => list !== null && take(ofList(list))}>
              <Button look="primary" size="small" isBusy={isReading}>
                {texts.drop.files}
              </Button>
            </FileTrigger>
            <FileTrigger acceptDirectory onSelect={(list) => list !== null && take(filesOfFolder(list))}>
              <Button size="small">{texts.drop.folder}</Button>
            </FileTrigger>
            <Button size="small" onPress={() => onAdd({ what: 'text', text: '' })}>
              {texts.drop.text}
            </Button>
            <Button size="small" onPress={() => onAdd({ what: 'web', text: '' })}>
              {texts.drop.web}
            </Button>
          </div>
        </>
      )}
    </DropZone>
  )
}

const ofList = (list: FileList): Found => ({ files: [...list].map((file) => ({ file, path: file.name })), skipped: 0, text: '' })
