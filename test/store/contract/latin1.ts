// Text of one byte a character, both ways, where there may be no Buffer.

export const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

export const textOf = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
