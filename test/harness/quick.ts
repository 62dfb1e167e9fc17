/** True in `npm run test:quick` and `npm run dev`, which run the suites over the memory store and one Redis only. */
export const isQuick = process.env.ORIEL_QUICK === "1";
