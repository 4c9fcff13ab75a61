import { parentPort } from 'node:worker_threads'
import { renderHtml } from './html.ts'

/** The thread answers with the HTML. */
export interface RenderRequest {
  source: string
  imageHosts: string[]
}

parentPort!.on('message', ({ source, imageHosts }: RenderRequest) => {
  parentPort!.postMessage(renderHtml(source, imageHosts))
})
// Reports that the thread has loaded.
parentPort!.postMessage(undefined)
