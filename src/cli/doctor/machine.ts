import { existsSync, mkdtempSync, rmdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const LEAST_NODE = 24
/** Below the first, the next large document may not fit; below the second, not even the next conversation. */
const LITTLE_BYTES = 1_073_741_824
const NONE_BYTES = 104_857_600

export function checkNode(): Finding {
  const { version, versions } = process
  if (Number(versions.node.split('.')[0]) >= LEAST_NODE) return ok('Node.js', version)
  return fail('Node.js', `${version} is too old`, `Install Node.js ${LEAST_NODE} or newer.`)
}

/** Checks the data folder without creating anything. If it does not exist, checks the nearest existing parent. */
export function checkFolder({ data }: Config): Finding[] {
  const folder = resolve(data)
  const parent = nearestFolder(folder)
  const name = 'data folder'
  if (!statSync(parent).isDirectory()) return [fail(name, `${parent} is not a folder`, 'Set REPARTEE_DATA to a folder.')]
  try {
    rmdirSync(mkdtempSync(join(parent, '.doctor-')))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return [
      fail(
        name,
        `${parent} cannot be written (${code})`,
        'Give the user of the service the right to write there, or set REPARTEE_DATA.',
      ),
    ]
  }
  const message = parent === folder ? `${folder} can be written` : `${folder} will be made at the first start`
  return [ok(name, message), checkDisk(parent)]
}

function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder)
  const bytes = bavail * bsize
  const message = `${(bytes / 1e9).toFixed(1)} GB free`
  const advice = 'Make room, or move the data folder (REPARTEE_DATA).'
  if (bytes < NONE_BYTES) return fail('disk', message, advice)
  return bytes < LITTLE_BYTES ? warn('disk', message, advice) : ok('disk', message)
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}
