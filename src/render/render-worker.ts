import { parentPort } from 'node:worker_threads'
import { renderHtml } from './html.ts'
import type { RenderRequest } from './render-thread.ts'

parentPort!.on('message', ({ source, imageHosts }: RenderRequest) => {
  parentPort!.postMessage(renderHtml(source, imageHosts))
})
