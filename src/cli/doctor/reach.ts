import { createServer } from 'node:net'
import type { Config } from '../../config/config.ts'
import { connectTo, ServiceError } from '../client.ts'
import { CommandError } from '../command.ts'
import { findService, type Service } from '../service.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Checks the running service, or whether one could start. `isRunning`: the running service is the one of the data folder. */
export async function checkService(
  env: NodeJS.ProcessEnv,
  { host, port }: Config,
): Promise<{ isRunning: boolean; findings: Finding[] }> {
  const { service, findings } = look(env)
  if (service === undefined) return { isRunning: false, findings: [await checkPort(host, port), ...findings] }
  const found = await reach(service)
  if (service.urlFrom === 'REPARTEE_URL') return { isRunning: false, findings: [found] }
  if (found.state === 'ok') return { isRunning: true, findings: [found] }
  return { isRunning: false, findings: [await checkPort(host, port), found] }
}

function look(env: NodeJS.ProcessEnv): { service?: Service | undefined; findings: Finding[] } {
  try {
    return { service: findService(env), findings: [] }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return {
      findings: [
        fail('service', error.message, 'The commands beside a running service cannot reach it until this is put right.'),
      ],
    }
  }
}

async function reach(service: Service): Promise<Finding> {
  const name = 'service'
  const isAsked = service.urlFrom === 'REPARTEE_URL'
  try {
    await connectTo(service).call<'listAgents'>('GET', '/agents', { query: { limit: '1' } })
    return ok(name, `answers at ${service.url}`)
  } catch (error) {
    if (error instanceof ServiceError) {
      return fail(
        name,
        `${service.url} refuses: ${error.reason}`,
        `Look at the key from ${service.keyFrom}, and at the log of the service.`,
      )
    }
    if (!(error instanceof CommandError)) throw error
    if (isAsked) return fail(name, `nothing answers at ${service.url}`, 'Look at REPARTEE_URL, and whether that service runs.')
    return warn(
      name,
      `${service.urlFrom} is left of one that did not stop cleanly`,
      'Nothing needs doing: the next start replaces it.',
    )
  }
}

const ADVICE: Record<string, string> = {
  EADDRINUSE: 'Stop what listens there, or set REPARTEE_PORT.',
  EADDRNOTAVAIL: 'Set REPARTEE_HOST to an address of this machine.',
  ENOTFOUND: 'Set REPARTEE_HOST to an address of this machine.',
  EACCES: 'Set REPARTEE_PORT to 1024 or more.',
}

function checkPort(host: string, port: number): Promise<Finding> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const reason = code === 'EADDRINUSE' ? 'is taken' : `cannot be listened on (${code ?? message})`
      resolve(fail('port', `${port} of ${host} ${reason}`, ADVICE[code ?? ''] ?? 'Set REPARTEE_HOST and REPARTEE_PORT.'))
    })
    server.listen({ host, port }, () => {
      server.close(() => resolve(ok('port', port === 0 ? `any free one of ${host}` : `${port} of ${host} is free`)))
    })
  })
}
