import { plainEndpoint, type StartTarget } from "./target.ts";

/** No gateway: the upstream itself, relative to which added latency is measured. */
export const startDirect: StartTarget = async (upstream) => ({
  name: "direct",
  pid: upstream.pid,
  prepare: async ({ call }) => plainEndpoint(upstream.port, call),
});
