import type { ImagePart, UserPart } from "./conversation-parts.ts";

/**
 * Images that the model generated earlier in the conversation. Vendors do not accept another vendor's images in assistant
 * turns, but do in user turns, so they are added to the next user turn.
 */
export class OwnPictures {
  private waiting: ImagePart[] = [];
  private fields: string[] = [];

  /** `field` is the path of the image in the caller's request. */
  add(picture: ImagePart, field: string): void {
    this.waiting.push(picture);
    this.fields.push(field);
  }

  /** The parts of the next user turn, after the pending images. */
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

  /** The fields of images that no user turn follows. */
  get left(): readonly string[] {
    return this.fields;
  }
}
