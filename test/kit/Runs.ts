/** How much is tried: a little beside every change (`npm test`), all of it in `npm run test:soak`, which says `TEST_RUNS=all`. */
const isAll = process.env["TEST_RUNS"] === "all"

/** How many runs a property has, or how long the sequences are that it tries. */
export const runs = (few: number, all: number): number => isAll ? all : few
