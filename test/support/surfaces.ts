import { after } from 'node:test'
import { DroppingProxy } from './dropping-proxy.ts'
import { startService } from './service.ts'
import { WebSite } from './web-site.ts'

/** Starts a service for third-party clients, with a web site for documents and a proxy that can lose responses. Ends with the test file. */
export async function startForClients(env: Record<string, string> = {}) {
  const site = await new WebSite().start()
  const service = await startService({ REPARTEE_FETCH_ALLOW: site.host, REPARTEE_HEARTBEAT_MS: '100', ...env })
  const { client, model } = service
  const proxy = new DroppingProxy(() => new URL('/', client.address.baseUrl).href)
  const through = await proxy.start()
  after(async () => {
    proxy.stop()
    await service.stop()
    await site.stop()
  })
  return { site, service, client, model, proxy, through }
}
