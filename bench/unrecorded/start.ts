import { compose } from "../../server/compose.ts";
import { readConfiguration } from "../../server/kernel/configuration/configuration.ts";
import { jsonLog } from "../../server/kernel/log.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { welcome } from "../../server/welcome.ts";

/**
 * Gatehouse with its ledger replaced by a no-op (no markers, hashes, journal or shipping). Not a valid configuration; it shows what the
 * ledger costs.
 */
const nothing: Ledger = {
  chainId: "none",
  begin: () => undefined,
  seal: () => Promise.resolve(),
  accepting: () => true,
  status: () => ({
    chainId: "none",
    headSeq: 0,
    headHash: "",
    shippedSeq: 0,
    shippedHash: "",
    openCalls: 0,
    unshippedBytes: 0,
    unshippedRows: 0,
    oldestUnshippedAt: null,
    failed: null,
    shippingError: null,
    syncs: 0,
    syncMs: 0,
  }),
  shipped: () => Promise.resolve(),
  scrub: () => Promise.resolve(),
  holdsErased: false,
  close: () => Promise.resolve(),
};

const config = readConfiguration(process.env);
const gateway = await compose(config, process.env, jsonLog(config.logLevel), { openLedger: () => Promise.resolve(nothing) });
process.stdout.write(welcome(gateway, config));
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => void gateway.stop(config.drainSeconds).then(() => process.exit(0)));
