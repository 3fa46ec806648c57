import type { z } from "zod";
import type { Refusal } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import { refusedCoding } from "../../road/request/read-body.ts";
import type { Exchange } from "../../road/surface.ts";
import type { BatchService, CallerJob, JobFacts } from "../../services/batch/batch-service.ts";
import { MAX_LINE_BYTES, type NumberedProblem } from "../../services/batch/intake.ts";
import { pacedBody } from "../../kernel/http/paced-body.ts";
import { callerOf } from "../../services/files/caller.ts";
import { ArrayElements } from "../../wire/batch/array-elements.ts";
import type { LineForm } from "../../wire/batch/batch-line.ts";
import { type FieldProblem, JsonDocument } from "../../wire/json/document.ts";
import { unholdableIn } from "../../wire/json/json-object.ts";
import { fieldErrors } from "../../wire/http/strict-input.ts";
import { submitted } from "./submit.ts";

/** How to read a body that contains a job's requests. */
interface BodyForm<Body extends z.ZodType> {
  readonly lineForm: LineForm;
  readonly body: Body;
  /** The facts about the job besides its `requests`. */
  factsOf(said: z.infer<Body>): JobFacts | Refusal;
}

/** Reads the body's `requests` as they arrive, and returns an exchange that starts the job. */
export function submittedRequests<Body extends z.ZodType>(
  call: Call,
  batches: BatchService,
  form: BodyForm<Body>,
  answered: (job: CallerJob) => Answer | Promise<Answer>,
): Promise<Exchange | Refusal> | Refusal {
  const { arriving } = call;
  const coded = refusedCoding(call);
  if (coded !== null) return coded;
  if (arriving === undefined) return invalidRequest([{ field: "", message: "is not JSON" }]);
  const reader = new ArrayElements("requests", MAX_LINE_BYTES);
  return submitted(
    call,
    batches,
    {
      owner: callerOf(call).owner,
      pieces: reader.read(pacedBody(arriving)),
      ...{ lineEndpoint: null, lineForm: form.lineForm, inputFileId: null },
      facts: () => factsIn(reader, form),
    },
    answered,
    ({ problems }) => invalidRequest(problems.map(inRequests)),
  );
}

function inRequests({ number, ...problem }: NumberedProblem): FieldProblem {
  const { field, message } = problem;
  const place = number === null ? "requests" : `requests[${number - 1}]${field === "" ? "" : `.${field}`}`;
  return { ...problem, field: place, message: problem.ambiguous === true ? `${message} The first stands at \`${place}\`.` : message };
}

/** The members of the body besides the requests, once these were read. */
function factsIn<Body extends z.ZodType>(reader: ArrayElements, { body, factsOf }: BodyForm<Body>): JobFacts | Refusal {
  const document = JsonDocument.read(new TextEncoder().encode(reader.envelope));
  if (!(document instanceof JsonDocument)) return invalidRequest([document]);
  if (reader.found === 0) return invalidRequest([{ field: "requests", message: "must be an array" }]);
  if (reader.stray) return invalidRequest([{ field: "requests", message: "must hold objects only" }]);
  if (reader.torn)
    return invalidRequest([{ field: "requests", message: "is not JSON: one comma stands between two objects, and none else" }]);
  const said = jobBodyOf(document, body);
  return "said" in said ? factsOf(said.said) : said;
}

/** Validates a body by its schema; everything in it besides the requests must be storable in the job's record. */
export function jobBodyOf<Body extends z.ZodType>({ value }: JsonDocument, body: Body): { readonly said: z.output<Body> } | Refusal {
  const unholdable = unholdableIn(value);
  if (unholdable !== undefined) return invalidRequest([unholdable]);
  const parsed = body.safeParse(value, { reportInput: true });
  if (parsed.success) return { said: parsed.data };
  return invalidRequest(parsed.error.issues.slice(0, 20).flatMap(fieldErrors));
}
