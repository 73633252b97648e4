/** Where tests keep the folders of PostgreSQL servers. */
import { statfsSync } from "node:fs"
import { tmpdir } from "node:os"

/** Of the names of these folders. */
export const serverFolderPrefix = "pitboss-test-"

/** Folder in memory, and the free bytes required there: several times the need of a run. */
export const inMemory = "/dev/shm"
const minFree = 4 * 2 ** 30

/**
 * In memory where there is plenty: a database is made there in a tenth of the time, and a flush waits for no disk. What a killed process has written
 * stays there as on a disk.
 */
export const folderOfServers = (): string => {
  try {
    const { bavail, bsize } = statfsSync(inMemory)
    return bavail * bsize >= minFree ? inMemory : tmpdir()
  } catch {
    return tmpdir()
  }
}
