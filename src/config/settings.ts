import { limitSettings } from './limit-settings.ts'
import { modelSettings } from './model-settings.ts'
import { serviceSettings } from './service-settings.ts'
import { telemetrySettings } from './telemetry-settings.ts'

export type { Setting } from './setting.ts'

/** All settings. `docs/configuration.md` is generated from this table. */
export const settings = { ...serviceSettings, ...modelSettings, ...limitSettings, ...telemetrySettings } as const

export type SettingName = keyof typeof settings
