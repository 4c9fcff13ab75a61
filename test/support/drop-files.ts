import type { Locator, Page } from 'playwright-core'

const COPY = 1

/** Drags local files and folders from outside the browser onto an element, as a user does. */
export async function dropFiles(page: Page, target: Locator, files: string[]): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const box = await target.boundingBox()
  if (box === null) throw new Error('there is nothing to drop onto')
  const place = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await session.send('Input.dispatchDragEvent', { type, ...place, data: { items: [], files, dragOperationsMask: COPY } })
  await session.detach()
}
