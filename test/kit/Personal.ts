/** Encryption services of personal data, for tests of one capability. */
import { Layer } from "effect"
import { DigestKey, PersonalData } from "../../src/platform/PersonalData.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import { Settings } from "../../src/platform/Settings.ts"

/** `PersonalData` and `Secrets` under the settings of tests. */
export const layerPersonal = PersonalData.layer.pipe(
  Layer.provide(DigestKey.layerTest),
  Layer.provideMerge(Secrets.layer.pipe(Layer.provide(Settings.layerTest())))
)
