/** Number of runs of property tests: few in `npm test`, all in `npm run test:soak`, which sets `TEST_RUNS=all`. */
const isAll = process.env["TEST_RUNS"] === "all"

/** How many runs a property has, or how long the sequences are that it tries. */
export const runs = (few: number, all: number): number => isAll ? all : few
