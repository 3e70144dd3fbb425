# SPDX-License-Identifier: Apache-2.0
"""The exceptions of Holotrace: one family, with the engine's message, file, byte offset and hint."""


class Error(Exception):
    """Something that the engine could not do.

    message says what happened, file and offset where (None when unknown; the offset is in the
    decompressed bytes), hint what to do next (None when nothing helps).
    """

    def __init__(self, message, file=None, offset=None, hint=None):
        from ._speech import in_python  # which asks the engine, which needs these classes

        message, hint = in_python(message), in_python(hint)
        super().__init__(message, file, offset, hint)
        self.message = message
        self.file = file
        self.offset = offset
        self.hint = hint

    def __str__(self):
        text = self.message
        if self.file and self.file not in text:
            text = f"{self.file}: {text}"
        if self.offset is not None:
            text = f"{text} at byte {self.offset:,}"
        if not self.hint:
            return text
        begins_with_a_word = self.hint.split(" ")[0].rstrip(",:;").isalpha()
        return f"{text}. {self.hint[:1].upper() if begins_with_a_word else self.hint[:1]}{self.hint[1:]}"


class InputError(Error):
    """A file could not be read or written, or its bytes are not a trace."""


class UsageError(Error, ValueError):
    """An argument names something that does not exist."""


class LimitError(Error):
    """A limit was reached, or memory is out."""


class MissingError(Error):
    """The traces lack what is needed."""


class CancelledError(Error):
    """The progress callback said stop."""


class LossWarning(UserWarning):
    """Data was lost while reading; Session.health() says what."""
