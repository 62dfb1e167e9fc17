// Ends the fleet that `npm start` began, as Ctrl-C does.
import { forget, remembered } from "./pid-file.ts";

const pid = remembered();
if (pid === undefined) console.log("no fleet runs");
else {
  try {
    process.kill(pid, "SIGTERM");
    console.log("the fleet ends");
  } catch {
    forget(); // it was killed, and its file is left over
    console.log("no fleet runs");
  }
}
