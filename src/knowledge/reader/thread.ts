import { parentPort, workerData } from 'node:worker_threads'
import { DocumentError } from '../../core/document-error.ts'
import { decodePage } from '../read/decode.ts'
import { load, loadAll, readDocument } from '../read/read.ts'
import type { ReadAnswer, ReadRequest } from './protocol.ts'

async function answer(request: ReadRequest): Promise<unknown> {
  switch (request.what) {
    case 'document':
      if (await load(request.input)) sayReady()
      return readDocument(request.input)
    case 'links':
      return (await import('../read/links.ts')).readLinks(await decodePage(request.input), request.input.url)
    case 'sitemap': {
      const { readSitemap, unpacked } = await import('../read/sitemap.ts')
      const { content, mediaType } = request.input
      return readSitemap(await decodePage({ content: unpacked(content), mediaType }))
    }
  }
}

async function reply(request: ReadRequest): Promise<void> {
  let message: ReadAnswer
  try {
    message = { result: await answer(request) }
  } catch (error) {
    const { code, message: why } =
      error instanceof DocumentError
        ? error
        : ({ code: 'damaged', message: 'The document could not be read: it is damaged, or not what its type says.' } as const)
    message = { error: { code, message: why } }
  }
  parentPort!.postMessage(message)
}

const sayReady = () => parentPort!.postMessage({ ready: true } satisfies ReadAnswer)

// One at a time, and answered in order.
let last = (workerData as { isWarm: boolean }).isWarm ? loadAll() : Promise.resolve()
last = last.then(sayReady)
parentPort!.on('message', (request: ReadRequest) => {
  last = last.then(() => reply(request))
})
