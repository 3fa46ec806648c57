import { isObject } from "../../kernel/json-value.ts";
import type { FieldProblem, JsonDocument } from "../json/document.ts";
import type { MediaRequest } from "../media-request.ts";
import { isSameResolution } from "./resolution.ts";
import type { VideoRequested } from "./video-codec.ts";
import { type FilmedBefore, videoProblems, VideosRequest } from "./videos-request.ts";

/** Settings that a derived video inherits from its source. */
const GIVEN = ["model", "model_id", "resolution", "size", "aspect_ratio", "duration_seconds", "input_reference", "n"];

/** A request for a video derived from one of the caller's, with the same model and size. */
export class DerivedVideosRequest extends VideosRequest {
  override readonly source: FilmedBefore;

  constructor(document: JsonDocument, source: FilmedBefore, formBytes: number | null) {
    super(document, null, formBytes);
    this.source = source;
  }

  override get model(): null {
    return null;
  }

  override get modelId(): string {
    return this.source.modelId;
  }

  override get resolution(): string | null {
    return this.source.resolution;
  }

  /** An extension has the requested length; any other derived video is as long as its source. */
  override get seconds(): number | null {
    return this.source.as === "extension" ? super.seconds : this.source.seconds;
  }

  override get media(): MediaRequest {
    const { field, resolution, seconds } = this.source;
    const further = this.source.as === "extension";
    const whole = further && seconds !== null && this.seconds !== null ? seconds + this.seconds : this.seconds;
    return {
      ...super.media,
      // Inherited from the source, so no other value can be chosen.
      choices: { resolution: { field, value: resolution, same: isSameResolution, choose: null } },
      measures: { ...super.media.measures, duration_seconds: { field: further ? "seconds" : field, value: whole } },
    };
  }

  override requested(reference: VideoRequested["reference"], source: VideoRequested["source"] = null): VideoRequested {
    const requested = super.requested(reference, source);
    return { ...requested, others: requested.others.filter((name) => name !== "video") };
  }
}

/** The ID of the source video; each problem names its field. */
export function namedVideo({ value }: JsonDocument): { readonly id: string } | { readonly fields: readonly FieldProblem[] } {
  const { video } = value;
  const id = isObject(video) && Object.keys(video).length === 1 ? video.id : null;
  return typeof id === "string" && id !== "" ? { id } : { fields: [{ field: "video", message: "must be {id}, of a video made here" }] };
}

/** Each problem names its field. `formBytes` is null if the request was JSON. */
export function readDerivedVideosRequest(
  document: JsonDocument,
  source: FilmedBefore,
  formBytes: number | null,
): DerivedVideosRequest | { readonly fields: readonly FieldProblem[] } {
  const given = source.as === "extension" ? GIVEN : [...GIVEN, "seconds"];
  const fields = [
    ...given.flatMap((field) =>
      (document.value[field] ?? null) === null ? [] : [{ field, message: "is that of the video it is made of: leave it out" }],
    ),
    ...videoProblems(document.value).filter(({ field }) => !given.includes(field)),
  ];
  if (source.as === "extension" && (document.value.seconds ?? null) === null) fields.push({ field: "seconds", message: "is required" });
  return fields.length > 0 ? { fields } : new DerivedVideosRequest(document, source, formBytes);
}
