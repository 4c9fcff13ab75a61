import './overlay.css'
import './drawer.css'
import type { ReactNode } from 'react'
import { Dialog as AriaDialog } from 'react-aria-components/Dialog'
import { Heading } from 'react-aria-components/Heading'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { IconButton } from './button.tsx'
import { useUiTexts } from './texts.ts'

/** A full-height dialog at the end edge of the window, for content that belongs to a page. */
export function Drawer({
  title,
  isOpen,
  onClose,
  children,
}: {
  title: string
  isOpen: boolean
  onClose(): void
  children: ReactNode
}) {
  const texts = useUiTexts()
  return (
    <ModalOverlay className="scrim scrim-end" isOpen={isOpen} onOpenChange={(open) => !open && onClose()} isDismissable>
      <Modal className="drawer-end">
        <AriaDialog className="drawer-end-dialog">
          <div className="dialog-head">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <IconButton icon="close" label={texts.close} size="small" onPress={onClose} />
          </div>
          <div className="drawer-end-body">{children}</div>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
}
