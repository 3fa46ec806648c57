import type { CallPiece } from "../../wire/texts/answer-texts.ts";
import { WholeArguments } from "../../wire/json/whole-arguments.ts";
import { MAX_ARGUMENTS_LENGTH, TOO_LONG } from "./judge-tool-call.ts";

/** Arguments to judge, or why they cannot be judged. */
type ArgumentsText = string | { readonly unreadable: string };

/** A tool call in progress, assembled from its pieces. */
export class PendingCall {
  /** Calls of one group are passed on together. */
  readonly group: string;
  private readonly isGoverned: (name: string) => boolean;
  private readonly names: string[] = [];
  private id: string | null = null;
  private readonly wholes = new Set<string>();
  private pieces = "";
  private readonly wholeness = new WholeArguments();
  private length = 0;
  private unreadable: string | null = null;
  /** Names by which the caller may know the call and that have a policy. */
  governedNames: readonly string[] = [];
  /** Whether it must wait: it has a policy, or its name is not known yet. */
  held = true;

  constructor(group: string, isGoverned: (name: string) => boolean) {
    this.group = group;
    this.isGoverned = isGoverned;
  }

  /** `written` returns a value of the piece as JSON. */
  add({ id, name, place, form, scattered }: CallPiece, written: (value: unknown) => string): void {
    this.id ??= id ?? null;
    if (name !== null && !this.names.includes(name)) this.named(name);
    if (scattered === true) this.giveUp("The arguments came in parts that cannot be put together.");
    const value: unknown = place === null ? undefined : place.holder[place.key];
    if (value === undefined || value === null) return;
    const text = typeof value === "string" ? value : written(value);
    this.length += text.length;
    if (this.length > MAX_SHOWN_LENGTH) this.giveUp(TOO_LONG);
    if (this.unreadable !== null) return;
    if (form === "piece" && typeof value === "string") {
      this.pieces += text;
      this.wholeness.push(text);
    } else if (text !== "") this.wholes.add(text);
  }

  /**
   * Whether a named piece in its channel begins another call, which an ID of its own shows. Only after complete or
   * absent arguments: otherwise a client that goes by the channel would read both as one call.
   */
  endsBefore({ id }: CallPiece): boolean {
    return (
      id != null &&
      this.id !== null &&
      id !== this.id &&
      this.unreadable === null &&
      this.wholes.size === 0 &&
      (this.isBlank || this.wholeness.isClosed(this.pieces))
    );
  }

  /** The call that begins after this one. If this one has no arguments, a client that goes by the channel may use either name. */
  next(name: string): PendingCall {
    const next = new PendingCall(this.group, this.isGoverned);
    if (this.isBlank) next.names.push(...this.names.filter((other) => other !== name));
    next.named(name);
    return next;
  }

  private get isBlank(): boolean {
    return this.pieces.trim() === "";
  }

  giveUp(why: string): void {
    this.unreadable ??= why;
    this.pieces = "";
    this.wholes.clear();
  }

  /** The call was judged and need not wait any longer. */
  letPass(): void {
    this.held = false;
    this.governedNames = [];
  }

  /** Every version of the arguments, because a caller may use any of them. */
  texts(): readonly ArgumentsText[] {
    if (this.unreadable !== null) return [{ unreadable: this.unreadable }];
    return this.pieces === "" && this.wholes.size > 0 ? [...this.wholes] : [...new Set([this.pieces, ...this.wholes])];
  }

  private named(name: string): void {
    this.names.push(name);
    // Some clients concatenate the names they are given, others take the last.
    this.governedNames = [...new Set([...this.names, this.names.join("")])].filter(this.isGoverned);
    if (!this.held && this.governedNames.length > 0) this.giveUp("The call changed its name after it had begun.");
    this.held = this.governedNames.length > 0;
  }
}

/** The arguments may be sent in pieces, again when complete, and again with the call they belong to. */
const MAX_SHOWN_LENGTH = 4 * MAX_ARGUMENTS_LENGTH;
