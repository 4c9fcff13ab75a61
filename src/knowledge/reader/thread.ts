import { parentPort } from 'node:worker_threads'
import { DocumentError } from '../../core/document-error.ts'
import { decodePage } from '../read/decode.ts'
import { readDocument } from '../read/read.ts'
import type { ReadAnswer, ReadRequest } from './protocol.ts'

async function answer(request: ReadRequest): Promise<unknown> {
  switch (request.what) {
    case 'document':
      return readDocument(request.input)
    case 'links':
      return (await import('../read/links.ts')).readLinks(await decodePage(request.input), request.input.url)
    case 'sitemap':
      return (await import('../read/sitemap.ts')).readSitemap(await decodePage(request.input))
  }
}

parentPort!.on('message', async (request: ReadRequest) => {
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
})
