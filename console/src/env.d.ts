declare const __REPARTEE_VERSION__: string
