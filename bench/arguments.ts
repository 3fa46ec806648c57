import { parseArgs } from "node:util";
import { TARGETS, type TargetName } from "./targets/target.ts";

export const USAGE = `Usage: npm run bench -- [case ...] [options]

  case ...         cases to run; without, every comparison (memory, durability and paced cases run by name only)
  --peers          Gatehouse with everything off and on beside the gateways of the registries; writes docs/peers.md
  --quick          fewer and shorter rounds: a look, no figure to quote
  --targets LIST   comma list of ${TARGETS.join(", ")}
  --rounds N       rounds of each comparison
  --pin            give the target the last processor for itself, client and upstream the others
  --json FILE      write all results
  --record         write the figures into bench/baseline.json; its bounds stay
  --help           print this text
`;

export interface Arguments {
  readonly cases: readonly string[];
  readonly targets: readonly TargetName[];
  readonly peers: boolean;
  readonly quick: boolean;
  readonly rounds: number | undefined;
  readonly pin: boolean;
  readonly json: string | undefined;
  readonly record: boolean;
  readonly help: boolean;
}

/** Throws with a one-line message if an argument is invalid. */
export function readArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      peers: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      targets: { type: "string", default: TARGETS.join(",") },
      rounds: { type: "string" },
      pin: { type: "boolean", default: false },
      json: { type: "string" },
      record: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const targets = values.targets.split(",").map((name) => {
    const target = TARGETS.find((known) => known === name.trim());
    if (target === undefined) throw new Error(`--targets: ${JSON.stringify(name)} is none of ${TARGETS.join(", ")}`);
    return target;
  });
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1 && rounds <= 50))
    throw new Error("--rounds must be a whole number from 1 to 50");
  return {
    cases: values.peers ? ["peers-64", "peers-stream-64"] : positionals,
    peers: values.peers,
    targets,
    quick: values.quick,
    rounds,
    pin: values.pin,
    json: values.json,
    record: values.record,
    help: values.help,
  };
}
