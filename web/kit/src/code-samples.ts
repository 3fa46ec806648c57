import { goSample } from "./code-samples/go.ts";
import { javaScriptSample } from "./code-samples/javascript.ts";
import { pythonSample } from "./code-samples/python.ts";
import type { SampleRequest } from "./code-samples/sample-request.ts";
import { curlSample } from "./code-samples/shell.ts";
import { sdkSamples } from "./code-samples/vendor-clients.ts";

export type { SampleRequest } from "./code-samples/sample-request.ts";

export interface CodeSample {
  readonly language: string;
  readonly code: string;
}

/** The request in each language. Credentials are read from environment variables and never shown. */
export function codeSamples(request: SampleRequest): readonly CodeSample[] {
  return [
    { language: "curl", code: curlSample(request) },
    { language: "JavaScript", code: javaScriptSample(request) },
    { language: "Python", code: pythonSample(request) },
    { language: "Go", code: goSample(request) },
    ...sdkSamples(request),
  ];
}
