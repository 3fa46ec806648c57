import type { ImagePart, UserPart } from "./conversation-parts.ts";

/**
 * Pictures that the model made earlier in a conversation. No vendor takes one of another's from the model's side, and all
 * take one from the user's, so the model is shown them again before what the user says next.
 */
export class OwnPictures {
  private waiting: ImagePart[] = [];
  private fields: string[] = [];

  /** `field` is where the caller sent it. */
  add(picture: ImagePart, field: string): void {
    this.waiting.push(picture);
    this.fields.push(field);
  }

  /** What the user says next, behind the pictures that wait. */
  before<Part extends UserPart>(parts: readonly Part[]): (Part | UserPart)[] {
    if (this.waiting.length === 0) return [...parts];
    const shown: UserPart[] = [
      { kind: "text", text: this.waiting.length === 1 ? "The picture you made above:" : "The pictures you made above:" },
      ...this.waiting,
      ...parts,
    ];
    this.waiting = [];
    this.fields = [];
    return shown;
  }

  /** Where those stand that the user said nothing after. */
  get left(): readonly string[] {
    return this.fields;
  }
}
