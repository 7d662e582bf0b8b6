# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite's C library through ctypes: runs a stateful network of one input and one output frame by frame."""

import ctypes as c

import numpy as np

_TYPES = {1: np.float32, 3: np.uint8, 9: np.int8}  # TfLiteType -> numpy


class _Quantization(c.Structure):
    _fields_ = [("scale", c.c_float), ("zero_point", c.c_int32)]


_SIGNATURES = {
    "TfLiteModelCreateFromFile": (c.c_void_p, [c.c_char_p]),
    "TfLiteModelDelete": (None, [c.c_void_p]),
    "TfLiteInterpreterCreate": (c.c_void_p, [c.c_void_p, c.c_void_p]),
    "TfLiteInterpreterDelete": (None, [c.c_void_p]),
    "TfLiteInterpreterAllocateTensors": (c.c_int, [c.c_void_p]),
    "TfLiteInterpreterInvoke": (c.c_int, [c.c_void_p]),
    "TfLiteInterpreterGetInputTensor": (c.c_void_p, [c.c_void_p, c.c_int32]),
    "TfLiteInterpreterGetOutputTensor": (c.c_void_p, [c.c_void_p, c.c_int32]),
    "TfLiteTensorType": (c.c_int, [c.c_void_p]),
    "TfLiteTensorByteSize": (c.c_size_t, [c.c_void_p]),
    "TfLiteTensorCopyFromBuffer": (c.c_int, [c.c_void_p, c.c_void_p, c.c_size_t]),
    "TfLiteTensorCopyToBuffer": (c.c_int, [c.c_void_p, c.c_void_p, c.c_size_t]),
    "TfLiteTensorQuantizationParams": (_Quantization, [c.c_void_p]),
}


class Network:
    """A .tflite file opened with its own state; `invoke` advances the state by one frame."""

    def __init__(self, library, model):
        self._lib = c.CDLL(str(library))
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(self._lib, name)
            function.restype, function.argtypes = result, arguments
        self._model = self._not_null(self._lib.TfLiteModelCreateFromFile(str(model).encode()), f"load {model}")
        self._interpreter = self._not_null(self._lib.TfLiteInterpreterCreate(self._model, None), "create an interpreter")
        self._ok(self._lib.TfLiteInterpreterAllocateTensors(self._interpreter), "allocate tensors")
        self._input = self._lib.TfLiteInterpreterGetInputTensor(self._interpreter, 0)
        self._output = self._lib.TfLiteInterpreterGetOutputTensor(self._interpreter, 0)
        self.input_type = _TYPES[self._lib.TfLiteTensorType(self._input)]
        self.output_type = _TYPES[self._lib.TfLiteTensorType(self._output)]
        quantization = self._lib.TfLiteTensorQuantizationParams(self._output)
        self.output_scale, self.output_zero_point = quantization.scale, quantization.zero_point

    @staticmethod
    def _not_null(pointer, what):
        if not pointer:
            raise RuntimeError(f"TensorFlow Lite could not {what}")
        return pointer

    @staticmethod
    def _ok(status, what):
        if status != 0:
            raise RuntimeError(f"TensorFlow Lite could not {what} (status {status})")

    def invoke(self, frame):
        data = np.ascontiguousarray(frame, dtype=self.input_type)
        if data.nbytes != self._lib.TfLiteTensorByteSize(self._input):
            raise RuntimeError(f"the network's input takes {self._lib.TfLiteTensorByteSize(self._input)} bytes, "
                               f"the frame has {data.nbytes}")
        self._ok(self._lib.TfLiteTensorCopyFromBuffer(self._input, data.ctypes.data, data.nbytes), "take the input")
        self._ok(self._lib.TfLiteInterpreterInvoke(self._interpreter), "run the network")
        out = np.empty(self._lib.TfLiteTensorByteSize(self._output) // np.dtype(self.output_type).itemsize, self.output_type)
        self._ok(self._lib.TfLiteTensorCopyToBuffer(self._output, out.ctypes.data, out.nbytes), "give the output")
        return out

    def close(self):
        self._lib.TfLiteInterpreterDelete(self._interpreter)
        self._lib.TfLiteModelDelete(self._model)
