import { startHelper } from "../processes/helper.ts";
import { plainEndpoint, type StartTarget } from "./target.ts";

export const startBare: StartTarget = async (upstream) => {
  const helper = startHelper<never, { port: number }>("bare", new URL("../bare/server.ts", import.meta.url), "target", [
    `http://127.0.0.1:${upstream.port}`,
  ]);
  const { port } = await helper.next();
  return { name: "bare", pid: helper.pid, prepare: async ({ call }) => plainEndpoint(port, call) };
};
