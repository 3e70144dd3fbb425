# SPDX-License-Identifier: Apache-2.0
# `tools/dist source` writes it with the archive's hash beside it: brew install --build-from-source dist/holotrace.rb
class Holotrace < Formula
  desc "Analyse PyTorch profiler traces, from a native engine"
  url "file://#{File.expand_path("holotrace-0.1.0.tar.gz", __dir__)}"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "isa-l"
  depends_on "libedit"
  depends_on "libmicrohttpd"
  depends_on "sqlite"
  depends_on "xxhash"
  depends_on "zstd"

  def install
    system "meson", "setup", "build", "-Dpython=disabled", "-Dmpi=disabled", "-Dtests=disabled", *std_meson_args
    system "meson", "compile", "-C", "build"
    system "meson", "install", "-C", "build"
    pkgshare.install "examples/train"
  end

  test do
    assert_match "Summary", shell_output("#{bin}/holotrace summary #{pkgshare}/train")
  end
end
