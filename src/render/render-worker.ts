import { parentPort } from 'node:worker_threads'
import { renderHtml } from './html.ts'

/** Answered with the HTML. */
export interface RenderRequest {
  source: string
  imageHosts: string[]
}

parentPort!.on('message', ({ source, imageHosts }: RenderRequest) => {
  parentPort!.postMessage(renderHtml(source, imageHosts))
})
// Loaded.
parentPort!.postMessage(undefined)
