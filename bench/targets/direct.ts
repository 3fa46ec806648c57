import { plainEndpoint, type StartTarget } from "./target.ts";

/** No gateway at all: the upstream itself, the zero that latency is added to. */
export const startDirect: StartTarget = async (upstream) => ({
  name: "direct",
  pid: upstream.pid,
  prepare: async ({ call }) => plainEndpoint(upstream.port, call),
});
